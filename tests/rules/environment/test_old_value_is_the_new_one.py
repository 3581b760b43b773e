import pytest

from rldebug.rules.environment.old_value_is_the_new_one import OldValueIsTheNewOne
from tests.judge import quiet
from tests.rules.sources import points_at, text

TABLE = """
import numpy as np
class Table:
    def reset(self):
        self.pos = {made}
        self.goal = np.ones(2)
        return self.pos
    def step(self, force):
        before = {kept}
        {change}
        gain = np.linalg.norm(before - self.goal) - np.linalg.norm(self.pos - self.goal)
        return self.pos.copy(), {reward}, False, False
"""


def table(made="np.zeros(2)", kept="self.pos", change="self.pos += force", reward="gain", mark=True):
    code = TABLE.format(made=made, kept=kept, change=change, reward=reward)
    return code.replace("before = self.pos\n", "before = self.pos  # here\n") if mark else code


@pytest.mark.parametrize("made", ["np.zeros(2)", "self.rng.uniform(0.0, 1.0, 2)", "np.random.normal(size=2)"])
@pytest.mark.parametrize(
    "change", ["self.pos += force", "self.pos[0] += force", "np.add(self.pos, force, out=self.pos)"]
)
def test_fires_where_an_array_is_changed_in_place(made, change):
    points_at(OldValueIsTheNewOne(), table(made, change=change))


@pytest.mark.parametrize(
    "options",
    [
        {"kept": "self.pos.copy()"},
        {"change": "self.pos = self.pos + force"},
        {"made": "0.0"},  # a number: += makes another one
        {"made": "self.rng.uniform(0.0, 1.0)"},
        {"change": "pass"},
    ],
)
def test_quiet_on_copies_numbers_and_new_arrays(options):
    quiet(OldValueIsTheNewOne(), text(table(**options, mark=False)))


def test_quiet_where_the_two_are_never_compared():
    code = """
    import numpy as np
    class Grid:
        def reset(self):
            self.cells = np.zeros((3, 3))
        def step(self, action):
            shown = self.cells
            self.cells[action] = 1.0
            return shown, float(shown.sum()), False, False, {}
    """
    quiet(OldValueIsTheNewOne(), text(code))
