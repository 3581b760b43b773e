"""No environment has this name and version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_ATARI = re.compile(r"(NoFrameskip|Deterministic|-ram)")


@dataclass(frozen=True, kw_only=True)
class EnvironmentNotRegistered(Rule):
    """No environment has this name and version.

    ## What it checks
    `make()` was asked for an environment that is not registered, or whose version is gone.

    ## Why it matters
    The program cannot begin.

    ## Likely causes
    1. The name is misspelt. Confirm: `gymnasium.pprint_registry()` lists them all.
    2. The package that registers it was not imported. Confirm: import it before `make()`.
    3. The version was removed from this Gymnasium: `LunarLander-v2`, `HalfCheetah-v2`. Confirm: the message names the
       newer one.
    4. Your own environment was registered in another process or file. Confirm: print it after `register()`.

    ## What to try first
    Take the name from `gymnasium.pprint_registry()`; import the package that registers it.

    ## When it is fine
    Never: the program has ended.

    ## References
    Gymnasium, `make` and `register`.
    """

    code: ClassVar[str] = "INS441"
    name: ClassVar[str] = "environment-not-registered"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return (
            evidence.is_a("NameNotFound", "VersionNotFound", "DeprecatedEnv", "UnregisteredEnv")
            and not evidence.is_a("NamespaceNotFound")
        ) or evidence.says(
            r"Environment version v\d+ for .* is deprecated",
            r"Environment `.*` doesn't exist",
            r"Environment version `v\d+` for environment `.*` doesn't exist",
            r"The environment \S+ is out of date",
            r"Malformed environment ID",
            r"No registered env with id",
            "mujoco v2 and v3 based environments have been moved",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        message, help = _told(evidence)
        yield self.finding(
            message,
            where=evidence.where,
            seen=evidence.said + (f", in `{evidence.at.source}`" if evidence.at else ""),
            expected="a name and version that are registered",
            help=help,
            confidence=0.95,
        )


def _told(crash: Crash) -> tuple[str, str]:
    if found := re.search(r"version v(\d+) for `([^`]+)` is deprecated\. Please use `([^`]+)`", crash.message):
        return (
            f"the environment {found[2]}-v{found[1]} is no longer in this Gymnasium",
            f'write gymnasium.make("{found[3]}"). Returns of two versions are not to be compared',
        )
    if found := re.search(r"The environment (\S+) is out of date.*version `v(\d+)`", crash.message):
        newer = re.sub(r"v\d+$", f"v{found[2]}", found[1])
        return (
            f"the environment {found[1]} is out of date",
            f'write gymnasium.make("{newer}"); returns of two versions are not comparable',
        )
    if found := re.search(r"`v(\d+)` for environment `([^`]+)` doesn't exist\. (.*)", crash.message):
        there = ", ".join(re.findall(r"`(v\d+)`", found[3]))
        return (
            f"the environment {found[2]} has no version v{found[1]}",
            f"take one that is there: {there or 'none is registered'}",
        )
    if "mujoco v2 and v3" in crash.message:
        return (
            "the MuJoCo environments of version v2 and v3 are no longer in Gymnasium",
            'write the newest version, as HalfCheetah-v5, and python -m pip install "gymnasium[mujoco]"',
        )
    found = re.search(r"Environment `([^`]+)` doesn't exist(?:.*Did you mean: `([^`]+)`)?", crash.message)
    name = found[1] if found else "what was asked for"
    if found and found[2]:
        return f"no environment is called {name}", f"did you mean {found[2]}?"
    if _ATARI.search(name):
        return (
            f"no environment is called {name}: the games of Atari are not registered",
            "python -m pip install ale-py; then import ale_py and gymnasium.register_envs(ale_py) before make()",
        )
    if "Malformed" in crash.message:
        return "the name of the environment is not well formed", "write it as Name-v0, or namespace/Name-v0"
    return (
        f"no environment is called {name}",
        "import the package that registers it before make(), or call gymnasium.register() in the same process; "
        "gymnasium.pprint_registry() lists all",
    )
