"""`rldebug transplant`: the user's program with one function replaced by the reference. Does the symptom go away?

Before and after differ in that function alone: same arguments, same seeds. A symptom is a probe that fails, a finding
in a run that rldebug.watch recorded, or a crash. What episodes are worth is told too, and proves nothing.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from rldebug.config import Config
from rldebug.evidence.transplant import BAD, Seen, Transplant, Verdict
from rldebug.evidence.verification import Verification
from rldebug.finding import Report
from rldebug.oracles.judge import DRAWN, judge
from rldebug.oracles.oracle import Oracle
from rldebug.oracles.plan import Plan, StandInError, plan_of
from rldebug.oracles.runner import definition
from rldebug.oracles.shelf import find
from rldebug.oracles.stand_in import check
from rldebug.parts.generators import generators_kept
from rldebug.symptoms import Probing, climbed, played, probed
from rldebug.target import TargetError, is_target, load
from rldebug.verify import examine
from rldebug.verify import program as in_plain_types
from rldebug.verify import report_on as report_on_function

SECONDS = 600.0  # for one run of the program
LADDER_SECONDS = 3600.0  # for all of `rldebug probe`


def transplant(
    target: str,
    component: str,
    program: Sequence[str],
    *,
    map: Mapping[str, str] | None = None,
    env_flag: str | None = None,
    probes: Iterable[str] | None = None,
    gamma: float | None = None,
    seeds: int | None = None,
    seed: int = 0,
    steps: int | None = None,
    seconds: float | None = None,
    jobs: int = 1,
    drawn: int = DRAWN,
    config: Config | None = None,
    progress: Callable[[str], Any] | None = None,
) -> Transplant:
    """Verify a function, then run a program twice: as it is, and with the reference in the function's place.

    target       `module:function` or `path/to/file.py:function`, also `…:Class.method`
    program      `train.py` and its arguments, `{seed}` stands for the seed; `-m module …`; or `probe TARGET …`
    env_flag     the program's option that takes an environment id: then it climbs the ladder of probes
    seeds        runs before and after, from `seed` on; with `env_flag`, at most so many for a rung
    seconds      for one run, 600 unless given; with `env_flag`, for one seed on one rung

    Raises TargetError where the function cannot be verified or replaced, or where the program never calls it.
    """
    say = progress or (lambda _: None)
    oracle = find(component)
    words = _words(program)
    if words[0] not in ("-m", "probe"):
        _can_be_run(words, None if env_flag is not None else seeds)
    say(f"verifying {target} as {oracle.name}")
    found = examine(component, target, map=map, drawn=drawn)
    say(_in_short(found))
    plan, place = _planned(target, oracle, map)
    with tempfile.TemporaryDirectory(prefix="rldebug-") as folder:
        orders = {"oracle": oracle.name, "plan": plan.to_dict(), **place}

        def run(when: str, replace: bool, only: Iterable[str] | None) -> Seen:
            inside = Path(folder) / when
            inside.mkdir()
            file = inside / "orders.json"
            file.write_text(json.dumps({**orders, "replace": replace, "folder": str(inside)}), encoding="utf-8")
            if env_flag is not None:
                how = Probing(env_flag, only, gamma, seeds or 5, seed, steps, seconds, jobs)
                return climbed(words, how, file)
            if words[0] == "probe" and not Path("probe").exists():
                return probed(words[1:], file, seconds or LADDER_SECONDS)
            return played(words, file, range(seed, seed + (seeds or 1)), seconds or SECONDS, config)

        say("running the program as it is")
        before = run("before", False, probes)
        if not before.calls:
            why = f"; it ends before that: {before.crash}" if before.crash else ""
            raise TargetError(f"the program never calls {target.rpartition(':')[2]}{why}")
        if before.rungs and not before.symptoms:
            return Transplant(found, tuple(words), before, None, "none")
        say(f"running it with the reference in place of {target.rpartition(':')[2]}")
        failed = [name for name, outcome in before.rungs.items() if outcome in BAD]
        after = run("after", True, failed or probes)
    if after.trouble:
        raise TargetError(f"the reference could not take its place: {after.trouble}")
    return _compared(found, words, before, after)


def report_on(done: Transplant, config: Config | None = None) -> Report:
    """The findings are those of verify; what the program showed is in `program`."""
    report = report_on_function(done.verification, config)
    title = f"{done.verification.target} as {done.verification.oracle}, in {' '.join(done.program)}"
    return dataclasses.replace(report, command="transplant", title=title, program=program_of(done))


def program_of(done: Transplant) -> dict[str, Any]:
    return {
        "verify": in_plain_types(done.verification),
        "command": list(done.program),
        "verdict": done.verdict,
        "said": done.said,
        "gone": list(done.gone),
        "left": list(done.left),
        "new": list(done.new),
        "before": done.before.to_dict(),
        "after": None if done.after is None else done.after.to_dict(),
    }


def _compared(found: Verification, words: Sequence[str], before: Seen, after: Seen) -> Transplant:
    there, now = before.symptoms, after.symptoms
    left = tuple(each for each in there if each in now or after.undecided(each))
    gone = tuple(each for each in there if each not in left)
    new = tuple(each for each in now if each not in there)
    verdict: Verdict
    if not there:
        verdict = "none"
    elif found.outcome == "right" and after.calls.get("different", 0):
        verdict = "unclear"  # the program hands over what the cases do not hold
    elif after.crash and not before.crash:
        verdict = "unclear"  # what did not come that far cannot have gone away
    elif not left:
        verdict = "gone"
    elif all(after.undecided(each) for each in left):
        verdict = "unclear"
    else:
        verdict = "partly" if gone else "stays"
    return Transplant(found, tuple(words), before, after, verdict, gone, left, new)


def _words(program: Sequence[str]) -> list[str]:
    words = list(program)
    if words and os.path.basename(words[0]).startswith("python"):
        words = words[1:]
    if not words or words == ["-m"]:
        raise TargetError(
            "which program? For example: rldebug transplant mypkg.ppo:compute_gae gae -- train.py --seed 1"
        )
    return words


def _can_be_run(words: Sequence[str], seeds: int | None) -> None:
    if not Path(words[0]).is_file():
        raise TargetError(f"{words[0]}: no such file")
    beside = os.path.dirname(os.path.abspath(words[0]))
    if beside not in sys.path:  # where the program finds its modules
        sys.path.insert(0, beside)
    if seeds is not None and seeds > 1 and not any("{seed}" in each for each in words):
        raise TargetError(f"{seeds} runs would be the same: expected {{seed}} among the arguments of the program")


def _in_short(found: Verification) -> str:
    if found.outcome == "right":
        return f"{found.target} is right, on {found.cases} cases: nothing can be gained by replacing it"
    return f"{found.target} is wrong: {', '.join(found.matched) or found.message}"


def _planned(target: str, oracle: Oracle, given: Mapping[str, str] | None) -> tuple[Plan, dict[str, str | int]]:
    """How to stand in for the function, and where it is defined."""
    thing = load(target)
    try:
        if oracle.examine is not None or (oracle.adapt is not None and oracle.adapt(thing) is not None):
            raise StandInError("it is an object, and only a function can be replaced")
        place = _place(target, thing)
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with generators_kept(0):
                judgement = judge(thing, oracle, given, drawn=0)
                if judgement.fit is None or judgement.told[0]:
                    raise StandInError(judgement.told[0] or judgement.reason)
                check(thing, oracle, judgement.fit)
                return plan_of(judgement.fit, oracle, judgement.mistakes), place
        finally:
            torch.set_num_threads(threads)
    except StandInError as error:
        raise TargetError(f"{target} cannot be replaced by the reference of {oracle.name}: {error}") from error


def _place(target: str, thing: Any) -> dict[str, str | int]:
    function = inspect.unwrap(getattr(thing, "py_func", thing))
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        raise StandInError(f"it is a {type(thing).__name__}, expected a function written in Python")
    file = os.path.realpath(code.co_filename)
    try:
        tree = ast.parse(Path(file).read_bytes(), file)
    except (OSError, SyntaxError) as error:
        raise StandInError(f"its source cannot be read: {error}") from error
    if definition(tree, code.co_name, code.co_firstlineno) is None:
        raise StandInError(f"{file}:{code.co_firstlineno} is no `def {code.co_name}`: expected it to be defined by one")
    return {"file": file, "name": code.co_name, "line": code.co_firstlineno}


def in_order(first: str, second: str) -> tuple[str, str]:
    """Target and component, whichever was named first."""
    return (second, first) if is_target(second) and not is_target(first) else (first, second)
