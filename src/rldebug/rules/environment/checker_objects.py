"""Another checker raises on this environment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.env_contract import EnvContract
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

# What other rules judge with more steps, or what no maintainer of a shipped environment would call wrong.
_JUDGED_ELSEWHERE = (
    "observation space",
    "observation keys",
    "np_random",
    "random number generator",
    "random generates",
    "deterministic",
    "not equivalent",
    "truncates after 1 step",
    "share an object",
    "keyword argument",
    "finite lower and upper bound",
    "must be a float",
    "must be a boolean",
    "does not match the bounds",
    "does not match the data type",
    "compute_reward",
    "goal",
    "nested",
    "not supported",
    "subspace",
)


@dataclass(frozen=True, kw_only=True)
class CheckerObjects(Rule):
    """Another checker raises on this environment.

    ## What it checks
    Gymnasium's `check_env`, and that of other libraries where they are installed, are run on a fresh environment. What
    they raise is passed on here, less what is known to be harmless or is judged by other rules with more steps: bounds,
    precision, ranges of actions, generators of one's own. Other libraries' objections are notes.

    ## Why it matters
    A library that checks its environments refuses to train on this one.

    ## Likely causes
    1. What the message says. Confirm: run the checker by itself: `gymnasium.utils.env_checker.check_env(env)`.

    ## What to try first
    Read the message, and run the checker on the environment without its wrappers.

    ## When it is fine
    The library is not used.

    ## References
    Gymnasium, `env_checker.check_env`. Stable-Baselines3, `env_checker.check_env`.
    """

    code: ClassVar[str] = "ENV026"
    name: ClassVar[str] = "checker-objects"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "EnvContract"
    follows: ClassVar[tuple[str, ...]] = (
        "ENV010",
        "ENV011",
        "ENV012",
        "ENV013",
        "ENV014",
        "ENV015",
        "ENV016",
        "ENV017",
        "ENV018",
        "ENV019",
        "ENV024",
        "ENV025",
        "PRE004",
        "SEE002",
        "SEE003",
        "SEE004",
        "ACT005",
    )

    def check(self, evidence: EnvContract) -> Iterator[Finding]:
        for remark in evidence.remarks:
            if not remark.raised or any(each in remark.text for each in _JUDGED_ELSEWHERE):
                continue
            yield self.finding(
                f"the checker of {remark.checker} raises",
                where=evidence.where,
                seen=f"{remark.kind}: {remark.text}",
                expected="no objection",
                help=f"run the checker of {remark.checker} by itself, and see its documentation",
                confidence=0.7,
                severity="warning" if remark.checker == "gymnasium" else "note",
            )
