from __future__ import annotations

import pytest

from rldebug.evidence.timing import Measured
from rldebug.rules.performance.dataloader_for_rollouts import DataloaderForRollouts
from tests.judge import quiet
from tests.rules.timings import library_spot, on, points_at_line, timing, yardstick

LOADER = library_spot("torch/utils/data/dataloader.py", "_BaseDataLoaderIter.__next__")
SAMPLER = library_spot("torch/utils/data/sampler.py", "BatchSampler.__iter__")
SAMPLE = {"part": "buffer sample", "before": "update", "after": "backward"}

TENSORS = """
    from torch.utils.data import DataLoader, TensorDataset

    for update in range(10):
        play(env.step)
        loader = DataLoader(TensorDataset(obs, actions, advantages), batch_size=64, shuffle=True)
        for batch in loader:  # here
            loss(*batch).backward()
"""

LISTED = """
    from torch.utils.data import DataLoader

    rows = []
    for update in range(10):
        rows.append(env.step(act(obs)))
        for batch in DataLoader(rows, batch_size=64):  # here
            loss(*batch).backward()
"""

LOOKS_UP = """
    from torch.utils.data import DataLoader, Dataset

    class Rollouts(Dataset):
        def __len__(self):
            return len(self.obs)

        def __getitem__(self, i):
            return self.obs[i], self.actions[i]

    data = Rollouts()
    for batch in DataLoader(data, 64, num_workers=4):  # here
        loss(*batch).backward()
"""


@pytest.mark.parametrize("code", [TENSORS, LISTED, LOOKS_UP])
def test_fires_on_what_lies_in_memory(code):
    finding = points_at_line(DataloaderForRollouts(), timing(code, [on("here", 2.0, below=[LOADER], **SAMPLE)]), "here")
    assert finding.speedup == pytest.approx(10 / 8.2)
    assert finding.seen == "2 ms per update in torch.utils.data, 20 % of the run"


def test_fires_with_what_it_could_take_here():
    known = yardstick(Measured("rollout_buffer", "rldebug.parts.buffers.RolloutBuffer", 1.0, None, {"sample": 5e-5}))
    made = timing(TENSORS, [on("here", 2.0, below=[LOADER], **SAMPLE)], yardstick=known)
    assert points_at_line(DataloaderForRollouts(), made, "here").speedup == pytest.approx(10 / 8.05)


def test_fires_on_samplers_of_indices():
    code = """
    from torch.utils.data import BatchSampler, SubsetRandomSampler

    for update in range(10):
        play(env.step)
        for index in BatchSampler(SubsetRandomSampler(range(2048)), 64, False):  # here
            loss(obs[index]).backward()
    """
    finding = points_at_line(
        DataloaderForRollouts(), timing(code, [on("here", 2.0, below=[SAMPLER], **SAMPLE)]), "here"
    )
    assert "sampler" in finding.message


def test_quiet_where_it_takes_little():
    quiet(DataloaderForRollouts(), timing(TENSORS, [on("here", 0.5, below=[LOADER], **SAMPLE)]))


def test_quiet_about_data_in_files():
    code = LOOKS_UP.replace("self.obs[i], self.actions[i]", "numpy.load(self.files[i])")
    quiet(DataloaderForRollouts(), timing(code, [on("here", 4.0, below=[LOADER], **SAMPLE)]))


def test_quiet_about_datasets_that_are_not_known():
    code = TENSORS.replace("TensorDataset(obs, actions, advantages)", "offline")
    quiet(DataloaderForRollouts(), timing(code, [on("here", 4.0, below=[LOADER], **SAMPLE)]))


def test_quiet_about_indices_that_are_split():
    code = """
    import torch

    for update in range(10):
        for index in torch.randperm(2048).split(64):  # here
            loss(obs[index]).backward()
    """
    quiet(DataloaderForRollouts(), timing(code, [on("here", 4.0, **SAMPLE)]))
