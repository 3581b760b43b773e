from rldebug.rules.performance.logging_every_step import LoggingEveryStep
from tests.judge import quiet
from tests.rules.timings import library_spot, on, points_at_line, timing

CODE = """
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter()
for step in range(10_000):
    env.step(act(obs))  # step
    writer.add_scalar("reward", reward, step)  # each
    if step % 10 == 0:
        writer.add_scalar("length", length, step)  # tenth
    learn()  # learn
"""


def test_fires_for_a_number_at_every_step():
    slices = [on("each", 2.0, part="logging", before="step", after="step", called=".add_scalar")]
    finding = points_at_line(LoggingEveryStep(), timing(CODE, slices), "each")
    assert finding.message == "logging between env steps takes 20% of the run"
    assert "0.2 ms for each of 10000 env steps" in finding.seen
    assert abs(finding.speedup - 10 / 8.02) < 0.01


def test_fires_with_a_smaller_promise_where_an_if_decides_already():
    slices = [on("tenth", 2.0, part="logging", before="step", after="step")]
    finding = points_at_line(LoggingEveryStep(), timing(CODE, slices), "tenth")
    assert abs(finding.speedup - 10 / 8.2) < 0.01


def test_promises_more_where_a_thread_of_the_logger_works_on():
    scalar = library_spot("torch/utils/tensorboard/writer.py", "SummaryWriter.add_scalar")
    put = library_spot("python3.11/queue.py", "Queue.put")
    at = {"part": "logging", "before": "step", "after": "step"}
    slices = [on("each", 0.5, below=[scalar, put], **at), on("each", 0.5, below=[scalar], **at)]
    finding = points_at_line(LoggingEveryStep(), timing(CODE, slices), "each")
    assert abs(finding.speedup - 10 / 7.03) < 0.01  # 0.5 s in calls, 2.5 s in the thread


def test_promises_no_more_where_the_queue_is_waited_for_already():
    scalar = library_spot("torch/utils/tensorboard/writer.py", "SummaryWriter.add_scalar")
    put = library_spot("python3.11/queue.py", "Queue.put")
    at = {"part": "logging", "before": "step", "after": "step"}
    slices = [on("each", 2.0, below=[scalar, put], **at), on("each", 0.3, below=[scalar], **at)]
    finding = points_at_line(LoggingEveryStep(), timing(CODE, slices), "each")
    assert abs(finding.speedup - 10 / 7.723) < 0.01


def test_fires_between_quick_updates():
    slices = [on("each", 2.0, part="logging", before="update", after="backward")]
    finding = points_at_line(LoggingEveryStep(), timing(CODE, slices, updates=1_000), "each")
    assert "each of 1000 updates" in finding.seen


def test_fires_in_a_loop_of_one_step_and_one_update():
    slices = [on("each", 2.0, part="logging", before="update", after="step")]
    points_at_line(LoggingEveryStep(), timing(CODE, slices, phases=2_000, updates=2_000), "each")


def test_quiet_once_an_iteration():
    slices = [on("each", 2.0, part="logging", before="update", after="step")]
    quiet(LoggingEveryStep(), timing(CODE, slices, phases=10))


def test_quiet_between_slow_updates():
    slices = [on("each", 2.0, part="logging", before="update", after="backward")]
    quiet(LoggingEveryStep(), timing(CODE, slices, updates=40))


def test_quiet_where_it_costs_little():
    quiet(LoggingEveryStep(), timing(CODE, [on("each", 0.4, part="logging", before="step", after="step")]))
