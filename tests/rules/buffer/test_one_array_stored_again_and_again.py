import pytest

from rldebug.rules.buffer.one_array_stored_again_and_again import OneArrayStoredAgainAndAgain
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import numpy as np
        def collect(env, n):
            frame = np.zeros(4)
            rows = []
            for t in range(n):
                frame[:] = env.look()
                rows.append(frame)  # here
            return np.array(rows)
        """,
        """
        import torch
        def returns(rewards, gamma):
            total = torch.zeros(8)
            out = []
            for r in reversed(rewards):
                total *= gamma
                total += r
                out.append(total)  # here
            return out[::-1]
        """,
        """
        import numpy as np
        class Runner:
            def run(self, steps):
                memory, state = [], np.empty(3, dtype=np.float32)
                while len(memory) < steps:
                    state[0] = self.sensor()
                    memory.append((state, self.act(state)))  # here
                return memory
        """,
    ],
)
def test_fires_where_the_array_is_changed_in_place(code):
    points_at(OneArrayStoredAgainAndAgain(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import numpy as np
        frame, rows = np.zeros(4), []
        for t in range(5):
            frame[:] = t
            rows.append(frame.copy())
        """,
        """
        import numpy as np
        rows = []
        for t in range(5):
            frame = np.zeros(4)
            frame[0] = t
            rows.append(frame)
        """,
        """
        total, out = 0.0, []
        for r in rewards:
            total += r
            out.append(total)
        """,
        """
        import numpy as np
        total, out = np.zeros(3), []
        for r in rewards:
            total = total + r
            out.append(total)
        """,
        """
        import numpy as np
        total = np.zeros(3)
        for run in runs:
            out = []
            total[:] = run
            out.append(total)
            use(out)
        """,
        """
        import numpy as np
        state, memory = np.zeros(3), Replay()
        for t in range(5):
            state[0] = t
            memory.append(state)
        """,
    ],
)
def test_quiet_where_it_is_copied_or_made_anew(code):
    quiet(OneArrayStoredAgainAndAgain(), text(code))
