import json
import math
from pathlib import Path

import pytest
import wandb

from rldebug.evidence.foreign.wandb_offline import read_wandb
from rldebug.evidence.run import Reading, Run
from rldebug.finding import Report
from rldebug.render import exported
from rldebug.render.exported import ExportError, write_run
from rldebug.render.wandb import WeightsAndBiases
from tests.apart import apart
from tests.render.test_exported import FINDING

# wandb starts a process of its own, and leaves its log open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning:wandb.*")


@pytest.fixture(autouse=True)
def nobody_is_logged_in(monkeypatch, tmp_path):
    for name in ("WANDB_MODE", "WANDB_API_KEY", "WANDB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "none"))
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("WANDB_CACHE_DIR", str(tmp_path / "cache"))


@apart
def test_a_run_comes_back_from_the_file_that_is_kept_offline(tmp_path):
    histograms = {"histogram/value": [-1.0, 1.0, 3.0, 0.0, 2.0]}
    values = [0.5, math.nan, 0.25, math.inf]
    readings = [
        Reading(i, 64 * (i // 2), float(i), {"policy/entropy": value, "loss/<odd> @π": 1.0}, histograms=histograms)
        for i, value in enumerate(values)
    ]
    run = Run.of(readings, {"name": "run", "seed": 3})
    viewer = WeightsAndBiases("project", "run")
    write_run(run, Report("report", (FINDING,)), viewer)
    wandb.teardown()  # its process writes the file

    (folder,) = (tmp_path / "wandb").glob("offline-run-*")
    assert viewer.where == f"wandb sync {folder.relative_to(Path.cwd())}"
    log = read_wandb(folder)
    assert list(log.columns["env_step"].value[:4]) == [0, 0, 64, 64]  # several readings of one step
    entropy = log.columns["policy/entropy"].value
    assert (entropy[0], entropy[2], entropy[3]) == (0.5, 0.25, math.inf)
    assert math.isnan(entropy[1])
    assert list(log.columns["smoothed/policy/entropy"].value) == pytest.approx(run["policy/entropy"].ema().value)
    assert log.columns["losses/entropy"].value[2] == 0.25
    assert len(log.columns["loss/<odd> @π"]) == 4
    assert log.settings["seed"] == "3"
    (file,) = folder.glob("*.wandb")
    data = file.read_bytes()
    assert b'"histogram"' in data
    assert b"[3,0,2]" in data
    (table,) = (json.loads(each.read_text(encoding="utf-8")) for each in folder.rglob("*.table.json"))
    assert dict(zip(table["columns"], table["data"][0], strict=True)) == {
        "severity": "error",
        "code": "NET003",
        "name": "gradient-vanished",
        "component": "network",
        "message": FINDING.message,
        "seen": FINDING.seen,
        "expected": FINDING.expected,
        "help": FINDING.help,
        "where": "train.py:7",
    }


@apart
def test_what_the_user_has_set_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("WANDB_MODE", "disabled")
    viewer = WeightsAndBiases("project", "run")
    write_run(Run.from_series({"policy/kl": [0.1]}), None, viewer)
    assert "disabled" in viewer.where
    assert not list(tmp_path.rglob("*.wandb"))


@apart
def test_nobody_is_asked(monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "online")
    with pytest.raises(ExportError, match="nobody is logged in: `wandb login` first"):
        WeightsAndBiases("project", "run")


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(exported, "find_spec", lambda name: None)
    with pytest.raises(ExportError, match=r"wandb is not installed: pip install 'rldebug\[wandb\]'"):
        WeightsAndBiases("project", "run")
