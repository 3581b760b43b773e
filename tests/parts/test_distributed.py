import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from rldebug.parts import distributed
from rldebug.parts.distributed import (
    LOST,
    World,
    average_gradients,
    broadcast,
    check_equal,
    gather_moments,
    join,
    launch,
    run_ranks,
    step_on_first,
    threads_advice,
    total,
)
from tests.parts.ranks import UPDATES, network, rows

RANKS = [sys.executable, "-W", "error", str(Path(__file__).with_name("ranks.py"))]


def left_by(folder, rank):
    return torch.load(folder / f"{rank}.pt")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """What two ranks found in one go: starting processes is what takes time here."""
    folder = tmp_path_factory.mktemp("pair")
    assert run_ranks([*RANKS, "sound", str(folder)], 2) == 0
    return [left_by(folder, rank) for rank in range(2)]


def alone(size, *, mean):
    """The twin: one process, all rows of all ranks, from the weights of rank 0."""
    torch.manual_seed(0)
    net = network()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for update in range(UPDATES):
        optimizer.zero_grad()
        loss = net(torch.cat([rows(rank, update) for rank in range(size)])).square().mean()
        (loss if mean else size * loss).backward()
        optimizer.step()
    return list(net.parameters())


def test_ranks_know_who_they_are(pair):
    assert [each["world"] for each in pair] == [(0, 2, "cpu"), (1, 2, "cpu")]
    assert all(each["again"] for each in pair)  # joining twice is joining once


@pytest.mark.parametrize("scheme", ["everybody", "first"])
@pytest.mark.parametrize("mean", [True, False], ids=["mean", "sum"])
def test_both_schemes_equal_one_process_on_all_rows(pair, scheme, mean):
    name = scheme if mean else f"{scheme} sum"
    for mine, theirs, expected in zip(pair[0][name], pair[1][name], alone(2, mean=mean), strict=True):
        assert torch.equal(mine, theirs)
        torch.testing.assert_close(mine, expected, atol=1e-6, rtol=0)


def test_the_sum_is_the_mean_times_the_number_of_ranks(pair):
    for each in pair:
        assert torch.equal(each["sum"], 2 * each["mean"])
        assert each["mean"].tolist() == [0.5, 1.5, 2.5, 3.5]


def test_a_gradient_that_one_rank_lacks_counts_as_zeros_and_one_that_all_lack_stays_none(pair):
    for each in pair:
        here, never, wide = each["none"]
        assert here.tolist() == [1.0, 2.0]
        assert never is None
        assert wide.dtype == torch.float64
        assert wide.tolist() == [1.0, 1.0]


def test_no_gradient_at_all_is_refused(pair):
    assert pair[1]["all none"].startswith("rank 1: none of the 1 parameters has a gradient")


def test_broadcast_is_exact_for_every_dtype(pair):
    for each in pair:
        integer, flags, empty = each["buffers"]
        assert integer.item() == 2**62
        assert flags.tolist() == [True, True]
        assert empty.numel() == 0


def test_check_equal_names_rank_and_tensor_on_all_ranks(pair):
    for each in pair:
        assert each["equal"] is None
        assert "the weights of rank 1 differ from those of rank 0: first in 2.weight (2, 5)" in each["tampered"]
        assert "the targets of rank 1 differ" in each["swapped"]
        assert "first in tensor 0" in each["longer"]
        assert "rank 0 has 1 tensors; rank 1 has 2 tensors" in each["more"]
        assert "rank 0 has 1 tensors, 2 numbers; rank 1 has 2 tensors, 4 numbers" in each["more sent"]


def test_totals_are_sums_over_ranks(pair):
    for each in pair:
        assert each["total"] == {"return": 30.0, "episodes": 2, "only": 3.0}


def test_moments_are_those_of_all_the_data(pair):
    data = torch.cat([each["data"] for each in pair])
    for each in pair:
        mean, var, count = each["moments"]
        torch.testing.assert_close(mean, data.mean(0))
        torch.testing.assert_close(var, data.var(0, unbiased=False))
        assert count == len(data)
        assert torch.equal(mean, pair[0]["moments"][0])
        mean, var, count = each["one has seen nothing"]
        torch.testing.assert_close(mean, pair[0]["data"].mean(0))
        assert count == len(pair[0]["data"])
        assert each["none has seen anything"][2] == 0


# ── ranks that are lost ──────────────────────────────────────────────────────────────────────────────────────────────


def test_a_killed_rank_ends_the_other_three_with_a_message(tmp_path, capfd):
    assert run_ranks([*RANKS, "killed", str(tmp_path)], 4) == 128 + signal.SIGKILL
    assert "rank 3 of 4" in (said := capfd.readouterr().err)
    assert "was killed by SIGKILL (out of memory? see dmesg); the other 3 were ended" in said
    assert not list(tmp_path.glob("3.pt"))


def test_a_rank_whose_peer_died_says_so_instead_of_hanging(tmp_path):
    """Nobody watches these two: what ends rank 0 is its own collective."""
    own = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(distributed._free_port())}
    command = [*RANKS, "killed", str(tmp_path)]
    ranks = [subprocess.Popen(command, env={**os.environ, **own, "RANK": str(rank)}) for rank in (0, 1)]
    try:
        assert ranks[1].wait(60) == -signal.SIGKILL
        assert ranks[0].wait(30) == LOST
    finally:
        for each in ranks:
            each.kill()
            each.wait()
    lost = left_by(tmp_path, 0)["lost"]
    assert lost.startswith("rank 0 of 2: the sum of return failed after ")
    assert lost.endswith("the run ends")


def test_uneven_numbers_of_collectives_end_by_time_out_under_torchrun_too(tmp_path):
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    ended = subprocess.run([*torchrun, RANKS[-1], "uneven", str(tmp_path)], timeout=60, capture_output=True)
    assert ended.returncode != 0
    lost = left_by(tmp_path, 0)["lost"]
    assert lost.startswith("rank 0 of 2: the all-reduce of the gradients failed after 2.")
    assert "Timed out" in lost


# ── the launcher; these ranks need no torch ──────────────────────────────────────────────────────────────────────────


def python(text):
    return [sys.executable, "-S", "-c", f"import os, sys, signal, time, pathlib\nrank = os.environ['RANK']\n{text}"]


def test_ranks_get_their_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.setattr(distributed, "_cores", lambda: 7)
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMP_NUM_THREADS", "MASTER_PORT")
    assert run_ranks(python(f"pathlib.Path(rank).write_text(' '.join(os.environ[n] for n in {names}))"), 3) == 0
    found = [Path(str(rank)).read_text().split() for rank in range(3)]
    assert [each[:5] for each in found] == [[str(rank), str(rank), "3", "3", "2"] for rank in range(3)]
    assert len({each[5] for each in found}) == 1


def test_the_users_thread_count_is_kept(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert run_ranks(python("sys.exit(os.environ['OMP_NUM_THREADS'] != '5')"), 1) == 0


def test_an_exit_code_is_passed_on_and_a_rank_that_hangs_is_ended(capfd, monkeypatch):
    monkeypatch.setattr(distributed, "END", 0.2)
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\npathlib.Path('deaf').touch()\ntime.sleep(600)"
    failing = "\n    while not pathlib.Path('deaf').exists(): time.sleep(0.01)\n    sys.exit(7)"
    assert run_ranks(python(f"if rank == '1':{failing}\n{deaf}"), 2) == 7
    assert "rank 1 of 2" in (said := capfd.readouterr().err)
    assert "ended with exit code 7: its own message is above; the other was ended" in said


def test_the_rank_that_died_is_named_not_the_one_that_noticed(capfd):
    noticed = "pathlib.Path('gone').touch(); sys.exit(75)"
    dying = "\n    while not pathlib.Path('gone').exists(): time.sleep(0.01)\n    time.sleep(0.1); sys.exit(1)"
    assert run_ranks(python(f"if rank == '1':{dying}\n{noticed}"), 2) == 1
    assert "rank 1 of 2" in capfd.readouterr().err


READY = """
pathlib.Path(rank).touch()
while not all(pathlib.Path(str(each)).exists() for each in range(2)): time.sleep(0.01)
if rank == '1': os.kill(os.getppid(), signal.SIGINT)
"""


def test_ctrl_c_lets_every_rank_finish():
    """Once each: a second SIGINT would break the saving off."""
    before = signal.getsignal(signal.SIGINT)  # ignored, where the tests themselves run in the background
    train = "\n    ".join([*READY.splitlines(), "time.sleep(600)"])
    assert run_ranks(python(f"try:{train}\nexcept KeyboardInterrupt: pathlib.Path('saved' + rank).touch()"), 2) == 0
    assert Path("saved0").exists()
    assert Path("saved1").exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_ends_ranks_that_do_not(capfd, monkeypatch):
    monkeypatch.setattr(distributed, "FINISH", 0.2)
    assert run_ranks(python(f"signal.signal(signal.SIGINT, signal.SIG_IGN)\n{READY}\ntime.sleep(600)"), 2) == 130
    assert "2 of 2 ranks did not end within 0.2 s and were killed" in capfd.readouterr().err


def test_launch_runs_rldebug(monkeypatch):
    seen = []
    monkeypatch.setattr(distributed, "run_ranks", lambda *given: seen.append(given) or 0)
    assert launch(["train", "vpg"], 4) == 0
    assert seen == [([sys.executable, "-m", "rldebug", "train", "vpg"], 4)]


def test_no_process_is_refused():
    with pytest.raises(ValueError, match="processes is 0, expected at least 1"):
        run_ranks(["true"], 0)


# ── alone ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def lonely(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)


def test_alone_everything_is_as_it_was(lonely):
    world = join(device="cpu")
    assert world == World(0, 1)
    assert world.first
    parameter = torch.nn.Parameter(torch.ones(2))
    with pytest.raises(ValueError, match="none of the 1 parameters has a gradient"):
        average_gradients([parameter], world)
    parameter.grad = torch.ones(2)
    average_gradients([parameter], world, mean=False)
    assert parameter.grad.tolist() == [1.0, 1.0]
    step_on_first(torch.optim.SGD([parameter], lr=0.5), [parameter], world)
    assert parameter.tolist() == [0.5, 0.5]
    broadcast([parameter], world)
    check_equal([parameter], world)
    assert total({"return": 3.0}, world) == {"return": 3.0}
    mean, var, count = gather_moments(torch.ones(2), torch.zeros(2), torch.tensor(4), world)
    assert (mean.tolist(), var.tolist(), count.item()) == ([1.0, 1.0], [0.0, 0.0], 4)


def test_a_world_of_one_needs_nobody(lonely, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "1")
    assert join(device="cpu") == World(0, 1)


def test_half_an_environment_is_refused(lonely, monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="MASTER_ADDR and MASTER_PORT not set, though RANK and WORLD_SIZE"):
        join()


def test_sparse_gradients_are_refused():
    table = torch.nn.Embedding(4, 2, sparse=True)
    table(torch.tensor([1])).sum().backward()
    with pytest.raises(ValueError, match="only dense ones"):
        average_gradients(table.parameters(), World())


def test_moments_must_fit():
    with pytest.raises(ValueError, match=r"mean \(2,\) and var \(3,\)"):
        gather_moments(torch.ones(2), torch.ones(3), torch.tensor(1), World())


@pytest.mark.parametrize(
    ("processes", "threads", "advice"),
    [
        (4, 2, None),
        (4, 4, "4 processes with 4 threads each share 8 cores: set OMP_NUM_THREADS=2 in"),
        (16, 8, "set OMP_NUM_THREADS=1 in"),
        (16, 1, "16 processes with 1 threads each share 8 cores: start at most 8 processes"),
    ],
)
def test_threads_advice(processes, threads, advice, monkeypatch):
    monkeypatch.setattr(distributed, "_cores", lambda: 8)
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    said = threads_advice(processes)
    assert said == advice or (advice and advice in said)
