from typing import Any

from rldebug.evidence.timing import Environment, Host, Measured, Spot, Timing, Window
from rldebug.rules.performance.envs_stepped_serially import EnvsSteppedSerially
from tests.judge import quiet
from tests.rules.timings import library_spot, on, points_at_line, timing, yardstick

VECTOR = """
import gymnasium
envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("Ant-v5")] * 8)  # make
for _ in range(1000):
    obs, reward, done, cut, info = envs.step(act(obs))  # step
    learn()  # learn
"""
LOOP = """
import gymnasium
envs = [gymnasium.make("Ant-v5") for _ in range(8)]  # make
for _ in range(1000):
    for env, action in zip(envs, act(obs)):
        env.step(action)  # step
    learn()  # learn
"""
NESTED = (
    library_spot("gymnasium/vector/sync_vector_env.py", "SyncVectorEnv.step", "vector"),
    library_spot("gymnasium/wrappers/common.py", "TimeLimit.step", "wrapper"),
    library_spot("gymnasium/envs/mujoco/ant_v5.py", "AntEnv.step", "environment"),
)
AT_ONCE = (library_spot("brax/vector.py", "Vector.step", "vector"), library_spot("jax/run.py", "call"))
MEASURED = yardstick(Measured("vector", "", 2e-5, 6e-5, {"sync": 2e-5, "async": 6e-5}))


def run(
    code: str = VECTOR,
    below: tuple[Spot, ...] = NESTED,
    simulator: float = 8.0,
    cpu: float = 1.0,
    steps: int = 8_000,
    **fields: Any,
) -> Timing:
    vector = Environment("Ant-v5", lanes=8, steps=steps, calls=steps // 8, created=("train.py", 3))
    usual: dict[str, Any] = {
        "environments": (vector,),
        "host": Host(cores=8),
        "windows": (Window(0.0, 10.0, cpu=10.0 * cpu),),
        "yardstick": MEASURED,
    }
    slices = [
        on("step", simulator, below=below, part="simulator", inside=True),
        on("learn", 10.0 - simulator, part="loss"),
    ]
    return timing(code, slices, **(usual | fields))


def test_fires_for_a_costly_simulator_on_an_idle_machine():
    finding = points_at_line(EnvsSteppedSerially(), run(), "make")
    assert finding.message == "8 environments take turns in one process, on one of 8 cores"
    assert "1 ms a step" in finding.seen
    assert 2.5 < finding.speedup < 3.3  # 8 s on 8 cores take 1.2 s and the hand-over of 8000 steps 0.5 s


def test_fires_for_a_loop_over_environments():
    each = Environment("Ant-v5", steps=1_000, calls=1_000, last=9.9, created=("train.py", 3))
    points_at_line(EnvsSteppedSerially(), run(LOOP, NESTED[2:], environments=(each,) * 8), "make")


def test_fires_where_the_further_cores_are_those_of_the_updates():
    points_at_line(EnvsSteppedSerially(), run(cpu=2.4, host=Host(cores=8, threads=8)), "make")


def test_points_at_the_call_where_it_is_not_known_how_they_were_made():
    vector = Environment("Ant-v5", lanes=8, steps=8_000, calls=1_000)
    points_at_line(EnvsSteppedSerially(), run(environments=(vector,)), "step")


def test_promises_no_more_than_was_measured_for_the_very_environment():
    detail = {"sync": 2e-5, "async": 6e-5, "env_sync": 1e-3, "env_async": 5e-4}
    finding = points_at_line(
        EnvsSteppedSerially(), run(yardstick=yardstick(Measured("vector", "", 2e-5, 6e-5, detail))), "make"
    )
    assert abs(finding.speedup - 10 / 6) < 0.01


def test_quiet_for_a_cheap_simulator():
    quiet(EnvsSteppedSerially(), run(steps=80_000))  # 0.1 ms a step, and 0.06 ms to hand it over


def test_quiet_where_the_simulator_steps_all_lanes_at_once():
    quiet(EnvsSteppedSerially(), run(below=AT_ONCE))


def test_quiet_on_a_busy_machine_on_one_core_and_where_nobody_looked():
    quiet(EnvsSteppedSerially(), run(cpu=7.5))
    quiet(EnvsSteppedSerially(), run(cpu=0.6))  # by other programs: it waits for a core of its own
    quiet(EnvsSteppedSerially(), run(host=Host(cores=1)))
    quiet(EnvsSteppedSerially(), run(windows=()))


def test_quiet_where_they_are_in_processes_or_there_is_one():
    apart = Environment("Ant-v5", lanes=8, workers=8, steps=8_000, calls=1_000)
    quiet(EnvsSteppedSerially(), run(environments=(apart,)))
    quiet(EnvsSteppedSerially(), run(environments=(Environment("Ant-v5", steps=8_000, calls=8_000),)))


def test_quiet_where_environments_follow_one_another():
    made = [Environment("Ant-v5", steps=1_000, calls=1_000, last=1.0 + k, created=("train.py", 3)) for k in range(8)]
    quiet(EnvsSteppedSerially(), run(LOOP, NESTED[2:], environments=tuple(made)))


def test_quiet_where_the_updates_take_the_time():
    quiet(EnvsSteppedSerially(), run(simulator=2.0))
