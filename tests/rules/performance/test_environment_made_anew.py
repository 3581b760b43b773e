from rldebug.evidence.timing import Environment, Timing
from rldebug.rules.performance.environment_made_anew import EnvironmentMadeAnew
from tests.judge import fires, quiet
from tests.rules.timings import line_of, on, points_at_line, timing

CODE = """
import gymnasium
for episode in range(100):
    env = gymnasium.make("CartPole-v1")  # make
    obs, info = env.reset()  # reset
    learn()  # learn
"""


def made(count: int, apart: float = 1.0) -> tuple[Environment, ...]:
    return tuple(
        Environment("CartPole-v1", steps=100, calls=100, episodes=1, last=apart * place, created=("train.py", 4))
        for place in range(count)
    )


def run(environments: tuple[Environment, ...], seconds: float = 3.0, before: str = "step") -> Timing:
    slices = [on("make", seconds, part="other", before=before, after="reset")]
    return timing(CODE, slices, environments=environments)


def resets(steps: int, seconds: float = 5.0) -> Timing:
    env = Environment("Maze", steps=steps, calls=steps, episodes=100)
    return timing(CODE, [on("reset", seconds, part="reset", inside=True)], environments=(env,))


def test_fires_for_an_environment_in_each_episode():
    finding = points_at_line(EnvironmentMadeAnew(), run(made(10)), "make")
    assert finding.seen == "3 s; 10 were made and played one after the other"
    assert abs(finding.speedup - 10 / 7) < 0.01


def test_points_at_the_line_that_makes_it_though_its_own_code_takes_the_time():
    code = CODE + "\nclass Maze:\n    def __init__(self):\n        self.level = load()  # load\n"
    made_anew = timing(
        code, [on("load", 3.0, via=["make"], part="other", before="step", after="reset")], environments=made(10)
    )
    points_at_line(EnvironmentMadeAnew(), made_anew, "make")


def test_fires_without_a_promise_where_resets_dominate():
    finding = fires(EnvironmentMadeAnew(), resets(steps=10_000))
    assert finding.where.line == line_of(CODE, "reset")
    assert finding.seen == "5 s for 100 episodes of 100 steps; a reset takes as long as 100 steps"
    assert (finding.severity, finding.speedup) == ("note", None)


def test_quiet_for_one_that_is_made_late():
    quiet(EnvironmentMadeAnew(), run(made(1)))


def test_quiet_for_those_that_are_played_side_by_side():
    quiet(EnvironmentMadeAnew(), run(made(10, apart=0.001)))


def test_quiet_before_training_begins_and_where_it_costs_little():
    quiet(EnvironmentMadeAnew(), run(made(10), before="start"))
    quiet(EnvironmentMadeAnew(), run(made(10), seconds=0.2))


def test_quiet_where_episodes_are_short_or_resets_cheap():
    quiet(EnvironmentMadeAnew(), resets(steps=1_000))
    quiet(EnvironmentMadeAnew(), resets(steps=10_000, seconds=1.0))
