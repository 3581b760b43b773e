import pytest

from rldebug.syntax.transitions import part
from tests.syntax.snippets import asked, text

_PLAY = """
import numpy as np
import torch

def play(env, memory):
    after, reward, terminated, truncated, _ = env.step(act(obs))
    over = terminated or truncated
    memory.append((obs, action, reward, after, over))
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        pytest.param("def f(m):\n    s, a, r, s2, d = m.sample(3)\n    r  # ask", {"reward"}, id="by its place"),
        pytest.param("def f(m):\n    s, a, r, s2, d = m.sample(3)\n    d  # ask", {"done"}, id="joined flags"),
        pytest.param(
            "def f(m):\n    s, a, r, s2, d = m.sample(3)\n    d = torch.tensor(d).float()\n    d  # ask",
            {"done"},
            id="made into a tensor",
        ),
        pytest.param("def f(m):\n    s, a, r, d = m.sample(3)\n    r  # ask", set(), id="another number of parts"),
        pytest.param("def f(m):\n    s, a, r, s2, d = m.sample(3)\n    1 - d  # ask", set(), id="not the flag itself"),
        pytest.param("def f(m):\n    torch.tensor([row[2] for row in m])  # ask", {"reward"}, id="row by row"),
    ],
)
def test_what_comes_out_of_a_memory(code, expected):
    source = text(_PLAY + code)
    assert part(source, asked(source)) == expected


_MEMORY = """
class Memory:
    def push(self, s, a, r, s2, over):
        for name, value in (("s", s), ("a", a), ("r", r), ("s2", s2), ("over", OVER)):
            self.columns[name].append(value)
"""


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        pytest.param("", {"end"}, id="a memory from elsewhere may turn it round"),
        pytest.param(_MEMORY.replace("OVER", "1.0 - float(over)"), {"end"}, id="it is turned round"),
        pytest.param(_MEMORY.replace("OVER", "over"), {"done"}, id="it is kept"),
    ],
)
def test_whether_a_flag_comes_out_as_it_went_in(memory, expected):
    play = _PLAY.replace("append((obs, action, reward, after, over))", "push(obs, action, reward, after, over)")
    source = text(f"{play}{memory}\ndef f(m):\n    s, a, r, s2, d = m.sample(3)\n    d  # ask")
    assert part(source, asked(source)) == expected
