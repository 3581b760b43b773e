from dataclasses import replace

from rldebug.evidence.timing import Timing
from rldebug.rules.performance.wrappers_dominate import WrappersDominate
from tests.judge import quiet
from tests.rules.timings import ENVIRONMENT, library_spot, on, points_at_line, timing

CODE = """
class Stacked(gymnasium.Wrapper):
    def step(self, action):
        obs, *rest = self.env.step(action)
        return numpy.concatenate([*self.frames, obs]), *rest  # stack

env = make()  # make
while True:
    env.step(act(obs))  # step
    learn()  # learn
"""
RESIZE = (library_spot("gymnasium/wrappers/transform_observation.py", "ResizeObservation.observation", "wrapper"),)


def run(wrappers: float, simulator: float, marker: str = "stack", library: bool = False) -> Timing:
    slices = [
        on(marker, wrappers, below=RESIZE if library else (), part="wrappers", inside=True),
        on("learn", 10.0 - wrappers - simulator, part="loss"),
    ]
    return timing(CODE, slices, environments=(replace(ENVIRONMENT, created=("train.py", 7)),))


def test_fires_at_the_users_own_wrapper():
    finding = points_at_line(WrappersDominate(), run(5.0, 2.0), "stack")
    assert finding.message == "wrappers take 50% of the run, the environment itself 20%"
    assert "100% of it in step" in finding.seen
    assert finding.severity == "note"
    assert abs(finding.speedup - 10 / 7.5) < 0.01


def test_fires_where_the_environment_is_made_for_wrappers_of_a_library():
    finding = points_at_line(WrappersDominate(), run(5.0, 2.0, "step", library=True), "make")
    assert "ResizeObservation.observation" in finding.seen


def test_quiet_where_the_simulator_takes_more():
    quiet(WrappersDominate(), run(4.5, 5.0))


def test_quiet_where_they_take_little():
    quiet(WrappersDominate(), run(3.5, 1.0))
