from typing import Any

from rldebug.evidence.timing import Host, Network, Timing
from rldebug.rules.performance.data_on_wrong_device import DataOnWrongDevice
from tests.judge import fires, quiet
from tests.rules.timings import on, points_at_line, timing

CODE = """
while True:
    env.step(act(torch.as_tensor(obs).to(device)))  # act
    batch = buffer.sample().to(device)  # move
    number = loss.detach().cpu()  # back
    loss.backward()  # backward
"""
ON_GPU = (Network("actor", ((256, 64), (256,)), device="cuda:0"),)
LARGE = (Network("actor", ((2048, 512), (2048,)), training_rows=256),)


def run(marker: str = "move", seconds: float = 3.0, **fields: Any) -> Timing:
    slices = [on(marker, seconds, part="copies", before="update", after="backward", called=fields.pop("called", ".to"))]
    return timing(CODE, slices, **({"networks": ON_GPU, "host": Host(gpu="NVIDIA H200")} | fields))


def test_fires_where_each_batch_is_moved():
    finding = points_at_line(DataOnWrongDevice(), run(), "move")
    assert finding.message == "what is learned from is copied to the GPU for 30% of the run"
    assert "3 ms for each of 1 000 updates" in finding.seen
    assert abs(finding.speedup - 10 / 8.5) < 0.01


def test_fires_where_a_large_network_leaves_the_gpu_alone():
    made = timing(CODE, [on("backward", 7.0, part="backward")], networks=LARGE, host=Host(gpu="NVIDIA H200"))
    finding = fires(DataOnWrongDevice(), made)
    assert (finding.severity, finding.speedup) == ("note", None)
    assert "NVIDIA H200" in finding.seen


def test_quiet_for_numbers_that_come_back():
    quiet(DataOnWrongDevice(), run("back", called=".cpu"))


def test_quiet_for_observations_while_acting():
    slices = [on("act", 3.0, part="copies", before="step", after="step", called=".to")]
    quiet(DataOnWrongDevice(), timing(CODE, slices, networks=ON_GPU, host=Host(gpu="NVIDIA H200")))


def test_quiet_where_everything_is_on_the_cpu():
    quiet(DataOnWrongDevice(), run(networks=(Network("actor", ((256, 64), (256,))),), host=Host()))


def test_quiet_for_a_small_network_on_the_cpu_and_without_a_gpu():
    small = (Network("actor", ((64, 4), (64,)), training_rows=256),)
    slices = [on("backward", 7.0, part="backward")]
    quiet(DataOnWrongDevice(), timing(CODE, slices, networks=small, host=Host(gpu="NVIDIA H200")))
    quiet(DataOnWrongDevice(), timing(CODE, slices, networks=LARGE))


def test_quiet_where_copies_take_little():
    quiet(DataOnWrongDevice(), run(seconds=0.8))
