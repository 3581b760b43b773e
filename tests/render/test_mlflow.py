import math

import pytest

from rldebug.evidence.run import Reading, Run
from rldebug.finding import Report
from rldebug.render import exported, mlflow
from rldebug.render.exported import ExportError, diagnosis_text, write_run
from rldebug.render.mlflow import MLflow, allowed
from tests.apart import apart
from tests.render.test_exported import FINDING

# mlflow's own modules use what pydantic and others have given up.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")


def logged(experiment):
    from mlflow.tracking import MlflowClient

    client = MlflowClient()
    place = client.get_experiment_by_name(experiment).experiment_id
    return client, client.search_runs([place])


@apart
def test_a_run_comes_back_from_the_store(tmp_path):
    values = [0.5, math.nan, 0.25, math.inf]
    readings = [
        Reading(i, 64 * (i // 2), float(i), {"policy/entropy": value, "grad/norm@critic": 2.0, "grad/norm_critic": 3.0})
        for i, value in enumerate(values)
    ]
    run = Run.of(readings, {"name": "first", "started": "2026-11-18T01:36:50+0000", "env": {"id": "Lights"}})
    report = Report("report", (FINDING,))
    viewer = MLflow("my experiment", "first")
    write_run(run, report, viewer)

    client, (found,) = logged("my experiment")
    assert found.info.run_id in viewer.where
    assert (found.info.run_name, found.info.status) == ("first", "FINISHED")
    history = client.get_metric_history(found.info.run_id, "losses/entropy")
    assert [each.step for each in history] == [0, 0, 64, 64]
    assert [each.timestamp for each in history] == [1794965810000 + 1000 * i for i in range(4)]
    assert [each.value for each in history if math.isfinite(each.value)][:2] == [0.5, 0.25]
    smooth = [each.value for each in client.get_metric_history(found.info.run_id, "smoothed/policy/entropy")]
    assert smooth == pytest.approx(list(run["policy/entropy"].ema().value))
    assert found.data.metrics["grad/norm_critic"] == 2.0  # the first to be called so
    assert found.data.metrics["grad/norm_critic_2"] == 3.0
    assert found.data.params["env.id"] == "Lights"
    assert found.data.tags["rldebug.suspects"].startswith("network (")
    kept = {each.path: client.download_artifacts(found.info.run_id, each.path, str(tmp_path)) for each in
            client.list_artifacts(found.info.run_id)}  # fmt: skip
    with open(kept["diagnosis.md"], encoding="utf-8") as file:
        assert file.read() == diagnosis_text(report)
    with open(kept["renamed.txt"], encoding="utf-8") as file:
        assert "grad/norm_critic: grad/norm@critic\n" in file.read()


@apart
def test_an_experiment_is_gone_on_with():
    for name in ("first", "second"):
        write_run(Run.from_series({"policy/kl": [0.1] * 3}), None, MLflow("one", name))
    _, runs = logged("one")
    assert {each.info.run_name for each in runs} == {"first", "second"}


def test_names_are_as_it_allows():
    from mlflow.utils.validation import _validate_metric_name

    for tag in ("../../x", "/a", "a//b", "loss/<b>π\n", "a/.", "a/" * 200, "@", "", "grad/norm@policy", "a" * 300):
        _validate_metric_name(allowed(tag))
    assert allowed("loss/value") == "loss/value"
    assert allowed("grad/norm@policy") == "grad/norm_policy"


@apart
def test_a_folder_where_it_has_no_database(monkeypatch, tmp_path):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE")
    monkeypatch.setattr(mlflow, "find_spec", lambda name: None)
    viewer = MLflow("one", "run")
    write_run(Run.from_series({"policy/kl": [0.1]}), None, viewer)
    assert "MLFLOW_ALLOW_FILE_STORE=true" in viewer.where
    assert list((tmp_path / "mlruns").rglob("kl"))


@apart
def test_what_mlflow_refuses_is_said(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "nonsense://there")
    with pytest.raises(ExportError, match=r"--mlflow one: .*nonsense"):
        MLflow("one", "run")


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(exported, "find_spec", lambda name: None)
    with pytest.raises(ExportError, match=r"mlflow is not installed: pip install 'rldebug\[mlflow\]'"):
        MLflow("one", "run")
