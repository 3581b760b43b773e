import torch.distributed as dist

from rldebug.rules.multiprocess.port_taken import PortTaken
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_two_stores_listen_at_one_port():
    def program():
        first = dist.TCPStore("127.0.0.1", 0, 1, is_master=True)
        dist.TCPStore("127.0.0.1", first.port, 1, is_master=True)

    names(PortTaken(), crashed(program))


def test_quiet_when_nobody_listens():
    quiet(PortTaken(), crashed(saying(ConnectionRefusedError(111, "Connection refused"))))
