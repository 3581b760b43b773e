"""`rldebug verify`, and `rldebug.verify("gae", compute_gae)`: a function beside the right one, the mistake by name."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.verification import Verification
from rldebug.finding import Report
from rldebug.oracles.judge import DRAWN
from rldebug.oracles.shelf import find
from rldebug.oracles.verification import verification_of
from rldebug.parts.generators import generators_kept
from rldebug.target import TargetError, load


def verify(
    component: str,
    target: Any,
    *,
    map: Mapping[str, str] | None = None,
    drawn: int = DRAWN,
    config: Config | None = None,
) -> Report:
    """Compare a function, or a class, with the reference of its component, and name what is wrong with it.

    component    gae, dqn-target, replay-buffer …: `rldebug verify --list` names them
    target       the function or class itself, or `module:name`, or `path/to/file.py:name`
    map          quantity -> argument, where its names do not tell: {"reward": "x"}
    drawn        cases drawn at random after the fixed ones

    Raises TargetError where there is no such component or target, or where it cannot be called.
    """
    return report_on(examine(component, target, map=map, drawn=drawn), config)


def examine(component: str, target: Any, *, map: Mapping[str, str] | None = None, drawn: int = DRAWN) -> Verification:
    """What `verify` draws its conclusions from. Raises TargetError where the target cannot be judged."""
    oracle = find(component)
    name = target if isinstance(target, str) else ""
    thing = load(target) if isinstance(target, str) else target
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # cases of three steps are fastest so
    try:
        with generators_kept(0):  # what it draws from the global generators, it draws for us alone
            found = verification_of(thing, oracle, map, name=name, drawn=drawn)
    finally:
        torch.set_num_threads(threads)
    if found.outcome == "unusable":
        raise TargetError(f"{found.target} could not be verified as {oracle.name}: {found.reason}")
    return found


def report_on(found: Verification, config: Config | None = None) -> Report:
    """What the rules say about it."""
    report = diagnose([found], config=config, command="verify", title=f"{found.target} as {found.oracle}")
    return dataclasses.replace(report, program=program(found), exit=0 if report.clean else 1)


def program(found: Verification) -> dict[str, Any]:
    """How the function was called, and the smallest case, in plain types."""
    table = found.table
    return {
        "component": found.oracle,
        "target": found.target,
        "outcome": found.outcome,
        "mapping": dict(found.mapping),
        "convention": list(found.convention),
        "cases": found.cases,
        "drawn": found.drawn,
        "notes": list(found.notes),
        "smallest": None
        if table is None
        else {
            "case": table.case,
            "numbers": table.numbers,
            "columns": list(table.columns),
            "rows": [list(each) for each in table.rows],
            "wrong": list(table.wrong),
        },
    }


def mapping(pairs: Iterable[str]) -> dict[str, str]:
    """From `reward=r` and its like."""
    given: dict[str, str] = {}
    for pair in pairs:
        what, sign, argument = pair.partition("=")
        if not sign or not what.strip() or not argument.strip():
            raise TargetError(f"--map {pair}: expected WHAT=ARGUMENT, such as reward=r")
        given[what.strip()] = argument.strip()
    return given


def write_test_file(component: str, target: str, given: Mapping[str, str], file: Path) -> str:
    """Write, or add to, a test file for pytest that verifies the target; says what was done."""
    oracle = find(component)
    examine(component, target, map=given, drawn=0)  # what cannot be judged now cannot be judged by the test
    place, _, name = target.rpartition(":")
    from_file = place.endswith(".py") or os.sep in place
    shown = _quoted(target)
    if from_file:  # by its path from the test's folder: tests are run from anywhere
        way = Path(os.path.relpath(place, file.parent)).as_posix()
        written = _quoted(f"/{way}:{name}")[1:-1].replace("{", "{{").replace("}", "}}")
        shown = f'f"{{Path(__file__).parent}}{written}"'
    pairs = ", ".join(f"{_quoted(what)}: {_quoted(argument)}" for what, argument in given.items())
    call = f"verify({_quoted(oracle.name)}, {shown}{f', map={{{pairs}}}' if pairs else ''})"
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    if old and not re.search(r"^from rldebug\.testing import .*\bverify\b", old, re.MULTILINE):
        raise TargetError(f"{file} is there and does not import verify from rldebug.testing: expected another file")
    held = re.search(rf"^def (\w+)\(\):\n    {re.escape(call)}$", old, re.MULTILINE)
    if held is not None:
        raise TargetError(f"{file} holds {held.group(1)} already")
    test = _test_name([oracle.name, name], Path(place).stem if from_file else place, old)
    body = f"\n\ndef {test}():\n    {call}\n"
    text = old.rstrip("\n") + "\n" + body
    if not old:
        note = f"Components beside their references: `pytest {file.name}`."
        text = f'"""{note}"""\n\nfrom rldebug.testing import verify\n{body}'
    if from_file and "from pathlib import Path" not in text:
        text = text.replace("from rldebug.testing", "from pathlib import Path\n\nfrom rldebug.testing", 1)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return f"{file}: {test} verifies {target} as {oracle.name}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _test_name(parts: Sequence[str], place: str, old: str) -> str:
    """test_gae_compute_gae; with where it comes from, or a number, where that is taken."""
    named = ["_".join(parts), "_".join([parts[0], place, *parts[1:]])]
    for each in itertools.chain(named, (f"{named[1]}_{number}" for number in itertools.count(2))):
        test = "test_" + re.sub(r"\W+", "_", each).strip("_")
        if f"def {test}(" not in old:
            return test
    raise AssertionError
