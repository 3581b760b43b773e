import copy
import io
import multiprocessing
import threading

import torch

from rldebug.rules.checkpoint.cannot_be_saved_whole import CannotBeSavedWhole
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_agent_is_saved_with_its_lock():
    def program():
        agent = {"lock": threading.Lock()}
        torch.save(agent, io.BytesIO())

    names(CannotBeSavedWhole(), crashed(program))


def test_fires_when_it_is_copied():
    def program():
        agent = {"lock": threading.Lock()}
        copy.deepcopy(agent)

    names(CannotBeSavedWhole(), crashed(program))


def test_quiet_when_it_is_sent_to_a_worker():
    def program():
        ours, _ = multiprocessing.Pipe()
        ours.send(threading.Lock())

    quiet(CannotBeSavedWhole(), crashed(program))
