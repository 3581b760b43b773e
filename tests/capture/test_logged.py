import sys
import types

import pytest
import torch

from rldebug.capture import logged
from tests.capture.fake import listening


class SummaryWriter:
    def __init__(self):
        self.written = []

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None):
        self.written.append((tag, scalar_value, global_step))
        return "written"


@pytest.fixture
def writer(monkeypatch):
    """tensorboardX, as far as it matters here: imported already."""
    module = types.ModuleType("tensorboardX.writer")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, "tensorboardX.writer", module)
    return SummaryWriter()


def test_numbers_are_kept_with_their_steps(writer):
    with listening(logged) as session:
        session.updates = 4
        assert writer.add_scalar("loss", 0.5, 10) == "written"
        writer.add_scalar(tag="loss", scalar_value=torch.tensor(0.25), global_step=20)
    told = session.things["logged", "loss"]
    assert told["points"] == [(4, 10.0, 0.5), (4, 20.0, 0.25)]
    assert told["line"][0].endswith("test_logged.py")
    assert len(writer.written) == 2


def test_a_long_curve_is_thinned_over_its_whole_length(writer):
    with listening(logged) as session:
        for step in range(10_000):
            writer.add_scalar("return", float(step), step)
    told = session.things["logged", "return"]
    assert told["times"] == 10_000
    assert 200 < len(told["points"]) <= logged.KEPT
    assert told["points"][0][1] == 0
    assert told["points"][-1][1] > 9_900


def test_what_is_no_number_is_passed_by(writer):
    with listening(logged) as session:
        writer.add_scalar("histogram", torch.ones(3), 1)
        writer.add_scalar("text", "half", 1)
    assert not session.things


def test_a_library_is_hooked_when_it_is_imported_and_not_before(tmp_path, monkeypatch):
    package = tmp_path / "tensorboardX"
    package.mkdir()
    (package / "__init__.py").write_text("from tensorboardX.writer import SummaryWriter\n")
    (package / "writer.py").write_text("class SummaryWriter:\n    def add_scalar(self, tag, value, step): return 5\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    with listening(logged) as session:
        assert "tensorboardX" not in sys.modules
        from tensorboardX import SummaryWriter

        assert SummaryWriter().add_scalar("loss", 2.0, 1) == 5
    assert session.things["logged", "loss"]["points"] == [(0, 1.0, 2.0)]
    assert sys.meta_path == finders
    for name in ("tensorboardX", "tensorboardX.writer"):
        monkeypatch.delitem(sys.modules, name)


def test_what_wandb_is_told_is_kept(monkeypatch):
    class Run:
        def log(self, data, step=None):
            return data

    module = types.ModuleType("wandb.sdk.wandb_run")
    module.Run = Run
    monkeypatch.setitem(sys.modules, "wandb.sdk.wandb_run", module)
    with listening(logged) as session:
        Run().log({"loss": 1.0, "name": "x"}, step=3)
    assert [tag for _, tag in session.things] == ["loss"]
