"""A setting is read that was never given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class SettingMissing(Rule):
    """A setting is read that was never given.

    ## What it checks
    An attribute was read from parsed arguments or a configuration that does not have it.

    ## Why it matters
    A name that is misspelt, or new, is nowhere else.

    ## Likely causes
    1. The option is missing in the parser or in the file. Confirm: print the configuration.
    2. It is spelt with a dash there, or in another group. Confirm: the same.

    ## What to try first
    Print the configuration, and add the option with a default.

    ## When it is fine
    Never: the program has ended.

    ## References
    Python, `argparse`; OmegaConf, *struct flag*.
    """

    code: ClassVar[str] = "INS451"
    name: ClassVar[str] = "setting-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"'(types\.)?(Namespace|SimpleNamespace|DictConfig|AttrDict|ConfigDict|Munch)' object has no attribute",
            r"Key '\w+' (is )?not in (struct|')",
            "Missing mandatory value",
        ) or evidence.is_a("ConfigAttributeError", "ConfigKeyError", "MissingMandatoryValue")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        found = re.search(r"no attribute '(\w+)'|Key '(\w+)'|mandatory value: (\S+)", evidence.message)
        name = next((each for each in found.groups() if each), "") if found else ""
        yield self.finding(
            f"the setting {name} was never given" if name else "a setting was never given",
            where=evidence.where,
            seen=f"{' '.join(evidence.said.split())[:160]}, in `{evidence.at.expression if evidence.at else ''}`",
            expected="an option of that name, with a default",
            help=f"add {name or 'it'} to the parser or the file, or read it under the name it has there",
            confidence=0.9,
        )
