from typing import Any

from rldebug.evidence.timing import Environment, Host, Timing, Window
from rldebug.rules.performance.workers_crowd_cores import WorkersCrowdCores
from tests.judge import fires, quiet
from tests.rules.timings import on, timing

CODE = """
import gymnasium
envs = gymnasium.vector.AsyncVectorEnv([make] * 16)  # make
for _ in range(10_000):
    envs.step(act(obs))  # step
    learn()  # learn
"""


def run(waiting: float = 6.0, cpu: float = 4.0, children: float = 35.0, **fields: Any) -> Timing:
    usual: dict[str, Any] = {
        "environments": (Environment("Ant-v5", lanes=16, workers=16, created=("train.py", 3)),),
        "host": Host(cores=4, workers=16),
        "windows": (Window(0.0, 10.0, cpu=cpu, children_cpu=children),),
    }
    slices = [on("step", waiting, part="waiting", inside=True), on("learn", 10.0 - waiting, part="loss")]
    return timing(CODE, slices, **(usual | fields))


def test_fires_where_many_workers_keep_all_cores_busy():
    finding = fires(WorkersCrowdCores(), run())
    assert finding.message == "16 workers share 4 cores"
    assert (finding.where.line, finding.severity, finding.speedup) == (3, "note", None)
    assert "3.9 of 4 cores in use" in finding.seen


def test_quiet_with_a_worker_for_each_core():
    quiet(WorkersCrowdCores(), run(host=Host(cores=16, workers=16)))


def test_quiet_where_the_workers_wait_themselves():
    quiet(WorkersCrowdCores(), run(children=8.0))


def test_quiet_where_the_learner_keeps_the_cores_busy():
    quiet(WorkersCrowdCores(), run(cpu=33.0, children=6.0))


def test_quiet_where_nobody_waits_or_looked():
    quiet(WorkersCrowdCores(), run(waiting=1.0))
    quiet(WorkersCrowdCores(), run(windows=()))
