"""A run for MLflow: where MLFLOW_TRACKING_URI says, else in a folder here."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rldebug.finding import Report
from rldebug.render.exported import ExportError, Moment, diagnosis_text, names_for, need, suspects_text

_AT_ONCE = 1000  # metrics that MLflow takes in one go
_LONGEST = 250  # characters of a name
_SETTING = 500  # of a value


class MLflow:
    """Metrics at their step; settings as parameters; the diagnosis as an artifact. MLflow has no histograms."""

    def __init__(self, experiment: str, name: str) -> None:
        need("mlflow")
        self._in_folder = _choose_store()
        from mlflow.entities import Metric, Param
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient

        self._metric, self._param = Metric, Param
        self._pending: list[Any] = []
        self._name = names_for(allowed)
        self._renamed: dict[str, str] = {}
        try:
            self._client = MlflowClient()
            known = self._client.get_experiment_by_name(experiment)
            place = known.experiment_id if known is not None else self._client.create_experiment(experiment)
            self._run = self._client.create_run(place, run_name=name).info.run_id
        except MlflowException as error:
            raise ExportError(f"--mlflow {experiment}: {' '.join(str(error).split())}") from error
        self._experiment = experiment

    @property
    def where(self) -> str:
        read = " (to read it with MLflow's client: MLFLOW_ALLOW_FILE_STORE=true)" if self._in_folder else ""
        return f"run {self._run} of experiment {self._experiment!r} at {self._client.tracking_uri}{read}"

    def add(self, moment: Moment) -> None:
        when = int(moment.wall * 1000)
        for tag, value in moment.numbers.items():
            name = self._name(tag)
            if name != tag:
                self._renamed[name] = tag
            self._pending.append(self._metric(name, value, when, moment.step))
        while len(self._pending) >= _AT_ONCE:
            self._send()

    def flush(self) -> None:
        while self._pending:
            self._send()

    def close(self, report: Report | None, settings: Mapping[str, str], last: Moment) -> None:
        self.flush()
        told = names_for(allowed)
        params = [self._param(told(name), value[:_SETTING]) for name, value in settings.items()]
        for start in range(0, len(params), 100):
            self._client.log_batch(self._run, params=params[start : start + 100])
        self._client.log_text(self._run, diagnosis_text(report), "diagnosis.md")
        if report is not None:
            self._client.set_tag(self._run, "rldebug.suspects", suspects_text(report) or "none")
        if self._renamed:
            lines = "".join(f"{name}: {tag}\n" for name, tag in self._renamed.items())
            self._client.log_text(self._run, lines, "renamed.txt")
        self._client.set_terminated(self._run, end_time=int(last.wall * 1000))

    def _send(self) -> None:
        now, self._pending = self._pending[:_AT_ONCE], self._pending[_AT_ONCE:]
        self._client.log_batch(self._run, metrics=now)


def allowed(tag: str) -> str:
    """As MLflow lets a metric be called: no `@`, no `[`, no step out of its folder."""
    parts = [re.sub(r"[^\w\-. :]", "_", each, flags=re.ASCII) for each in tag.split("/")]
    return "/".join("_" if each in ("", ".", "..") else each for each in parts)[:_LONGEST].rstrip("/") or "_"


def _choose_store() -> bool:
    """Its own default is a database, for which mlflow-skinny lacks a package; and a folder it refuses unless told. Says
    whether it had to be told."""
    uri = os.environ.get("MLFLOW_TRACKING_URI", "")
    if not uri and find_spec("sqlalchemy") is None:
        uri = os.environ["MLFLOW_TRACKING_URI"] = Path("mlruns").absolute().as_uri()
    if uri.startswith("file:") or (uri and "://" not in uri and uri != "databricks"):
        told = "MLFLOW_ALLOW_FILE_STORE" not in os.environ
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
        return told
    return False
