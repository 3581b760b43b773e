from collections.abc import Sequence
from typing import Any

from rldebug.evidence.timing import Environment, Host, Measured, Timing, Window
from rldebug.rules.performance.subprocess_envs_slower import SubprocessEnvsSlower
from tests.judge import quiet
from tests.rules.timings import On, library_spot, on, points_at_line, timing, yardstick

CODE = """
import gymnasium
envs = gymnasium.vector.AsyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 4)  # make
for _ in range(10_000):
    obs, reward, done, cut, info = envs.step(act(obs))  # step
    learn()  # learn
"""
POLLS = (
    library_spot("gymnasium/vector/async_vector_env.py", "AsyncVectorEnv.step_wait", "vector"),
    library_spot("python3.11/multiprocessing/connection.py", "Connection.recv"),
)


WRAPPER = library_spot("gymnasium/wrappers/vector/common.py", "RecordEpisodeStatistics.step", "wrapper")


def run(
    waiting: float = 6.0,
    children: float = 8.0,
    detail: dict[str, float] | None = None,
    more: Sequence[On] = (),
    **fields: Any,
) -> Timing:
    """A worker's own step takes 0.2 ms with sending and receiving, if it computes for 8 s in all."""
    costs = {"sync": 2e-5, "async": 9e-5} if detail is None else detail
    envs = Environment(
        "CartPole-v1", lanes=4, workers=4, steps=40_000, calls=10_000, spec="CartPole-v1", created=("train.py", 3)
    )
    usual: dict[str, Any] = {
        "environments": (envs,),
        "host": Host(cores=8, workers=4),
        "windows": (Window(0.0, 10.0, 40_000, 1_000, cpu=6.0, children_cpu=children),),
        "yardstick": yardstick(Measured("vector", "", 2e-5, 9e-5, costs)),
    }
    slices = [
        on("step", waiting, below=POLLS, part="waiting", inside=True),
        on("learn", 10.0 - waiting - sum(each.slice.seconds for each in more), part="loss"),
        *more,
    ]
    return timing(CODE, slices, **(usual | fields))


def test_fires_for_a_cheap_environment():
    finding = points_at_line(SubprocessEnvsSlower(), run(), "make")
    assert finding.message == "4 processes for CartPole-v1 are slower than one"
    assert "0.6 ms for 4 environments" in finding.seen
    assert "0.16 ms, one after the other" in finding.expected  # a fifth of 0.2 ms, four times
    assert abs(finding.speedup - 10 / (4 + 1.6)) < 0.01


def test_what_the_vector_itself_does_is_saved_too():
    own = on("step", 1.0, below=POLLS[:1], part="wrappers", inside=True)
    other = on("step", 1.0, below=(*POLLS[:1], WRAPPER), part="wrappers", inside=True)
    plain, more = (next(iter(SubprocessEnvsSlower().check(run(waiting=4.0, more=[each])))) for each in (other, own))
    assert abs(plain.speedup - 10 / (6 + 1.6)) < 0.01
    assert abs(more.speedup - 10 / (5 + 1.6)) < 0.01


def test_quiet_for_a_costly_environment():
    quiet(SubprocessEnvsSlower(), run(children=22.0))


def test_quiet_where_the_environment_was_measured_to_be_costly():
    quiet(SubprocessEnvsSlower(), run(detail={"sync": 2e-5, "async": 9e-5, "env_sync": 5e-4, "env_async": 1.5e-4}))


def test_quiet_where_nothing_was_measured_and_nobody_looked():
    quiet(SubprocessEnvsSlower(), run(yardstick={}))
    quiet(SubprocessEnvsSlower(), run(windows=()))


def test_quiet_where_little_is_waited():
    quiet(SubprocessEnvsSlower(), run(waiting=1.0))


def test_quiet_in_one_process():
    quiet(SubprocessEnvsSlower(), run(environments=(Environment("CartPole-v1", lanes=4, steps=40_000, calls=10_000),)))
