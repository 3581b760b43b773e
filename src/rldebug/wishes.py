"""What was asked for on the command line of `rldebug run`, checked before the program begins."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rldebug.config import Config, ConfigError, asked_for, read_config
from rldebug.finding import Severity

RUNS = Path(".rldebug") / "runs"


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    program: tuple[str, ...]  # a script and its arguments, or -m, a module and its arguments
    folder: Path = RUNS
    name: str | None = None
    json: str | None = None
    html: Path | None = None
    graph: Path | None = None
    profile: bool = False
    fail_on: Severity | None = None
    stop_on: Severity | None = None
    creation_sites: bool = False
    live: bool = False
    dashboard: bool = False
    render_toggle: bool = False
    frames: int = 1000
    tensorboard: Path | None = None
    quiet: bool = False
    record_only: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    overhead_budget: float | None = None
    without: tuple[str, ...] = ()


def configured(wishes: Wishes) -> Config:
    """The rules that are asked for. What cannot be is said now: a misspelt rule, a folder that is not there."""
    for file in (wishes.json, wishes.html, wishes.graph):
        if file not in (None, "-") and not Path(file).absolute().parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "no such folder", str(Path(file).parent))
    config = asked_for(read_config(), wishes.select, wishes.ignore)
    check_names([*config.select, *config.ignore, *config.rules], config)
    return config


def check_names(names: Iterable[str], config: Config) -> None:
    """A misspelt rule is said now, not after days. To import rules is to import torch: first their text is looked at,
    and where that does not settle it, another process."""
    wanted = {each.lower() for each in names}
    if wanted:
        rules = Path(__file__).parent / "rules"
        for file in rules.rglob("*.py"):
            wanted -= {file.stem.replace("_", "-")}
            wanted -= {each.lower() for each in re.findall(r'"([A-Z]{3}\d{3})"', file.read_text(encoding="utf-8"))}
    if not wanted and not config.rules:
        return
    asked = {"select": config.select, "ignore": config.ignore, "rules": dict(config.rules), "source": config.source}
    code = (
        "import json, sys; from rldebug.config import Config, ConfigError; from rldebug.diagnose import choose\n"
        "try: choose(Config(**json.loads(sys.argv[1])))\n"
        "except ConfigError as error: print(error); sys.exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, json.dumps(asked)], capture_output=True, text=True, check=False)
    if done.returncode == 9:
        raise ConfigError(done.stdout.strip())
