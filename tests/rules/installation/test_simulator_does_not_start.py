from rldebug.evidence.machine import Trial
from rldebug.rules.installation.simulator_does_not_start import SimulatorDoesNotStart
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_mujoco_ends_the_process():
    finding = names(SimulatorDoesNotStart(), machine(Trial("mujoco", "died", "stepping a model", "ended by SIGILL")))
    assert "MuJoCo" in finding.message
    assert "gymnasium[mujoco]" in finding.help


def test_fires_when_box2d_lacks_a_name():
    failed = Trial("box2d", "error", "making LunarLander-v3", "AttributeError: module '_Box2D' has no attribute 'b2'")
    assert "gymnasium[box2d]" in names(SimulatorDoesNotStart(), machine(failed)).help


def test_quiet_when_they_step():
    quiet(SimulatorDoesNotStart(), machine(Trial("box2d")))
