"""A run for Weights & Biases: offline unless somebody is logged in, and never a question at the terminal."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from typing import Any

from rldebug.finding import Report
from rldebug.render.exported import ExportError, Histogram, Moment, need, suspects_text

_COLUMNS = ("severity", "code", "name", "component", "message", "seen", "expected", "help", "where")


class WeightsAndBiases:
    """Charts over `env_step`, as everywhere else; a row per reading, since several may be of one step."""

    def __init__(self, project: str, name: str) -> None:
        need("wandb")
        import wandb

        self._wandb: Any = wandb
        self._run: Any
        settings: dict[str, Any] = {"console": "off"}  # what is printed here is not the program's
        if "x_disable_stats" in getattr(wandb.Settings, "model_fields", {}):
            settings["x_disable_stats"] = True  # nor is this process's use of the machine
        try:
            mode: Any = _mode(wandb)
            self._run = wandb.init(project=project, name=name, mode=mode, settings=wandb.Settings(**settings))
        except (wandb.Error, TypeError, ValueError) as error:
            raise ExportError(f"--wandb {project}: {' '.join(str(error).split())}") from error
        self._run.define_metric("env_step", hidden=True)
        self._run.define_metric("*", step_metric="env_step")

    @property
    def where(self) -> str:
        mode = self._run.settings.mode
        if mode == "disabled":
            return "nowhere, since wandb is disabled (WANDB_MODE)"
        if mode != "offline" and self._run.url:
            return str(self._run.url)
        return f"wandb sync {os.path.relpath(self._run.settings.sync_dir)}"

    def add(self, moment: Moment) -> None:
        row: dict[str, Any] = {"env_step": moment.step, "update": moment.update, "seconds": moment.seconds}
        row |= moment.numbers
        row |= {name: self._histogram(each) for name, each in moment.histograms.items()}
        self._run.log(row)

    def flush(self) -> None:
        pass  # a process of its own does

    def close(self, report: Report | None, settings: Mapping[str, str], last: Moment) -> None:
        self._run.config.update(dict(settings), allow_val_change=True)
        if report is not None:
            rows = [[str(getattr(each, column)) for column in _COLUMNS] for each in report.findings]
            table = self._wandb.Table(columns=list(_COLUMNS), data=rows)
            self._run.log({"env_step": last.step, "rldebug/diagnosis": table})
            self._run.summary["rldebug/suspects"] = suspects_text(report) or "none"
            self._run.summary["rldebug/findings"] = len(report.findings)
        self._run.finish()

    def _histogram(self, given: Histogram) -> Any:
        return self._wandb.Histogram(np_histogram=(list(given.counts), given.edges))


def _mode(wandb: Any) -> str | None:
    """As the user has set it: None leaves it to wandb's own settings."""
    wanted = os.environ.get("WANDB_MODE", "").lower()
    if wanted not in ("", "online"):
        return wanted
    if _logged_in(wandb):
        return None
    if wanted:
        raise ExportError("WANDB_MODE is online, and nobody is logged in: `wandb login` first, or WANDB_MODE=offline")
    return "offline"


def _logged_in(wandb: Any) -> bool:
    if os.environ.get("WANDB_API_KEY") or os.environ.get("WANDB_IDENTITY_TOKEN_FILE"):
        return True
    try:
        if "prompt" in inspect.signature(wandb.login).parameters:
            return bool(wandb.login(prompt=False, verify=False))
        return bool(wandb.api.api_key)
    except Exception:
        return False  # it cannot be told: what is written offline can be sent later
