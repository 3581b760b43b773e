import json
from pathlib import Path

import pytest

from tests.evidence.foreign.logs import cleanrl, progress_csv, tensorboard


@pytest.fixture
def healthy():
    return tensorboard(Path("logs/healthy"), cleanrl(), settings={"env_id": "CartPole-v1"})


@pytest.fixture
def broken():
    Path("progress.csv").write_text(progress_csv(value_loss=[40.0] * 50 + ["nan"] * 10), encoding="utf-8")
    return Path("progress.csv")


def test_a_healthy_log(rldebug, healthy):
    said = rldebug("report", "--from-tensorboard", healthy)
    assert said.status == 0, said.out
    assert "nothing wrong found" in said.out
    assert "learning: episode/return_mean went from" in said.out
    assert "need what is not in the log" in said.out
    assert "read from a TensorBoard log: 11 of 11 tags are known" in said.out
    assert "watch(" not in said.out


def test_a_broken_log(rldebug, broken):
    said = rldebug("report", "--from-sb3-csv", broken)
    assert said.status == 1
    assert "error[POL011]: the value loss is not finite" in said.out
    assert "page: rldebug report" not in said.out


def test_what_could_not_be_checked_and_what_is_not_known(rldebug, broken):
    said = rldebug("report", "--from-sb3-csv", broken, "--skipped")
    assert "ADV001 advantage-not-centred: not in the log: `advantage/mean`" in said.out
    assert "not known: train/clip_range" in said.out
    assert "handed over" not in said.out


def test_json_html_and_select(rldebug, broken):
    said = rldebug("report", "--from-sb3-csv", broken, "--select", "POL011", "--json", "-", "--html", "page.html")
    report = json.loads(said.out)
    assert [each["code"] for each in report["findings"]] == ["POL011"]
    assert report["checked"] == ["POL011"]
    assert "POL011" in Path("page.html").read_text(encoding="utf-8")
    assert rldebug("report", "--from-sb3-csv", broken, "--ignore", "POL011").status == 0


def test_a_run_and_a_log_cannot_both_be_meant(rldebug, sound, healthy, broken):
    said = rldebug("report", "sound", "--from-tensorboard", healthy)
    assert said.status == 2
    assert "expected either RUN or one of the options --from-…" in said.err
    assert rldebug("report", "--from-sb3-csv", broken, "--from-tensorboard", healthy).status == 2


def test_a_log_that_is_not_there(rldebug):
    for option in ("--from-tensorboard", "--from-wandb-offline", "--from-sb3-csv"):
        said = rldebug("report", option, "nowhere")
        assert said.status == 2
        assert "nowhere is not" in said.err
