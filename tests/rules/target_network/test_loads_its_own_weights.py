import pytest

from rldebug.rules.target_network.loads_its_own_weights import LoadsItsOwnWeights
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        def sync(target, online):
            target.load_state_dict(target.state_dict())  # here
        """,
        """
        class Learner:
            def update(self):
                self.mixers["old"].load_state_dict(state_dict=self.mixers["old"].state_dict())  # here
        """,
    ],
)
def test_fires_with_the_same_network_on_both_sides(code):
    points_at(LoadsItsOwnWeights(), code)


@pytest.mark.parametrize(
    "code",
    [
        "target.load_state_dict(online.state_dict())",
        "nets[0].load_state_dict(nets[1].state_dict())",
        "net.load_state_dict(torch.load('net.pt'))",
        "net.state_dict()",
    ],
)
def test_quiet_about_weights_from_elsewhere(code):
    quiet(LoadsItsOwnWeights(), text(code))
