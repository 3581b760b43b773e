from typing import Any

from rldebug.evidence.timing import Host, Timing, Window
from rldebug.rules.performance.actor_and_learner_out_of_step import ActorAndLearnerOutOfStep
from tests.judge import fires, quiet
from tests.rules.timings import library_spot, line_of, on, points_at_line, timing

CODE = """
def actor():
    while True:
        rows = play(env)  # play
        queue.put(rows)  # put

while True:
    rows = queue.get()  # get
    learn(rows)  # learn
    actions = policy(obs)  # act
"""
PIPE = (library_spot("python3.11/multiprocessing/queues.py", "Queue.get"),)
THREADS = (library_spot("python3.11/queue.py", "Queue.get"), library_spot("python3.11/threading.py", "Condition.wait"))
LOADER = (library_spot("torch/utils/data/dataloader.py", "_next"), *PIPE)
WORKERS = (library_spot("gymnasium/vector/async_vector_env.py", "step_wait", "vector"), *PIPE)


def run(waiting: float = 6.0, below: Any = PIPE, busy: float = 3.0, acting: float = 0.0, **fields: Any) -> Timing:
    slices = [
        on("get", waiting, below=below, part="waiting", called=".get"),
        on("act", acting, part="acting"),
        on("learn", 10.0 - waiting - acting, part="loss"),
    ]
    usual: dict[str, Any] = {
        "host": Host(cores=8, workers=2),
        "windows": (Window(0.0, 10.0, cpu=4.0, children_cpu=10 * busy - 4.0),),
    }
    return timing(CODE, slices, **(usual | fields))


def threaded(putting: float, playing: float, waiting: float) -> Timing:
    slices = [
        on("play", playing, part="simulator", thread=1),
        on("put", putting, below=THREADS, part="waiting", thread=1, called=".put"),
        on("get", waiting, below=THREADS, part="waiting", called=".get"),
        on("learn", 10.0 - waiting, part="loss"),
    ]
    return timing(CODE, slices, windows=(Window(0.0, 10.0, cpu=10.0),), host=Host(cores=8))


def test_fires_where_the_learner_waits_for_two_processes_on_eight_cores():
    finding = points_at_line(ActorAndLearnerOutOfStep(), run(), "get")
    assert finding.message == "the learner waits 60% of the time for actors"
    assert "actors in 2 processes; 5.0 of 8 cores are idle" in finding.seen
    assert finding.help == "start 5 more actors"
    assert abs(finding.speedup - 10 / 4) < 0.01  # the learner's own four seconds bound it


def test_promises_what_the_further_actors_bring():
    finding = points_at_line(ActorAndLearnerOutOfStep(), run(busy=7.0), "get")
    assert abs(finding.speedup - 3 / 2) < 0.01  # a third actor


def test_promises_nothing_where_the_actors_have_a_core_each():
    finding = fires(ActorAndLearnerOutOfStep(), run(busy=0.8, host=Host(cores=2, workers=2)))
    assert (finding.severity, finding.speedup) == ("note", None)


def test_fires_without_a_promise_for_actors_in_threads():
    finding = fires(ActorAndLearnerOutOfStep(), threaded(putting=0.0, playing=9.0, waiting=7.0))
    assert (finding.severity, finding.speedup) == ("note", None)
    assert "processes" in finding.help


def test_fires_where_the_actors_wait_for_the_learner():
    finding = fires(ActorAndLearnerOutOfStep(), threaded(putting=7.0, playing=3.0, waiting=0.0))
    assert finding.message == "the actors wait 70% of their time for the learner"
    assert finding.where.line == line_of(CODE, "put")


def test_quiet_where_they_keep_pace():
    quiet(ActorAndLearnerOutOfStep(), run(waiting=1.0))
    quiet(ActorAndLearnerOutOfStep(), threaded(putting=1.0, playing=9.0, waiting=1.0))


def test_quiet_where_the_actors_are_more_than_the_cores():
    quiet(ActorAndLearnerOutOfStep(), run(host=Host(cores=8, workers=16)))


def test_quiet_for_the_workers_of_a_vector_and_of_a_data_loader():
    quiet(ActorAndLearnerOutOfStep(), run(below=WORKERS))
    quiet(ActorAndLearnerOutOfStep(), run(below=LOADER))


def test_quiet_where_the_program_acts_itself_and_waits_for_steps():
    quiet(ActorAndLearnerOutOfStep(), run(acting=2.0))


def test_quiet_for_a_thread_that_only_writes_logs():
    slices = [
        on("put", 9.0, below=THREADS, part="waiting", thread=2, called=".put"),
        on("learn", 10.0, part="loss"),
    ]
    quiet(ActorAndLearnerOutOfStep(), timing(CODE, slices))
