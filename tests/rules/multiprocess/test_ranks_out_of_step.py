from rldebug.rules.multiprocess.ranks_out_of_step import RanksOutOfStep
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TRACE = """

-- Process 0 terminated with the following error:
Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/torch/multiprocessing/spawn.py", line 87, in _wrap
    fn(i, *args)
  File "/home/me/train.py", line 203, in worker
    dist.barrier()
  File "/venv/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 4811, in barrier
    work.wait()
RuntimeError: [gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:16280
"""


def test_fires_when_one_rank_waits_at_a_barrier():
    finding = names(RanksOutOfStep(), crashed(saying(RuntimeError(TRACE))))
    assert (finding.where.file, finding.where.line) == ("/home/me/train.py", 203)


def test_quiet_when_a_server_closes_a_connection():
    quiet(RanksOutOfStep(), crashed(saying(ConnectionResetError("Connection closed by peer"))))
