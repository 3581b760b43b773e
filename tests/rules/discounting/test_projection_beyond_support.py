import torch

from rldebug.rules.discounting.projection_beyond_support import ProjectionBeyondSupport
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_atoms_leave_the_support():
    def program():
        mass = torch.zeros(3 * 5)
        lower = torch.tensor([4, 9, 15])
        return mass.index_add_(0, lower, torch.ones(3))

    assert "clamp" in names(ProjectionBeyondSupport(), crashed(program)).help


def test_quiet_when_values_are_picked():
    quiet(ProjectionBeyondSupport(), crashed(lambda: torch.zeros(4, 2).gather(1, torch.full((4, 1), 2))))
