import gc
import importlib.machinery
import os
import sys

# Before torch or numpy are imported: on shared cores two threads can be ten times slower than one.
for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import pytest
import torch

torch.set_num_threads(1)

# What thousands of files define is no garbage, and looking through it again and again takes a fifth of the collecting.
gc.disable()


class AsUsersHaveIt:
    """pytest writes the asserts of every package with a plugin anew, ours too: of a thousand files, each time."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        ours = name.startswith("rldebug.")
        return importlib.machinery.PathFinder.find_spec(name, path, target) if ours else None


sys.meta_path.insert(0, AsUsersHaveIt)


def pytest_collection_finish():
    """What is imported and collected by now is no garbage: else every collection goes through thousands of tests."""
    gc.enable()
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def distributions_check_their_arguments():
    """As they do by default: a test that compiles something switches that off for the whole process."""
    torch.distributions.Distribution.set_default_validate_args(__debug__)


@pytest.fixture(autouse=True)
def programs_are_small(monkeypatch):
    """Else every test file that was imported so far belongs to the program that is watched, and is parsed with it."""
    monkeypatch.setattr("rldebug.capture.arguments._FILES", 20)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """A run folder written by default goes nowhere near the checkout; no pyproject.toml above is picked up."""
    monkeypatch.chdir(tmp_path)
