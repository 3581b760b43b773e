"""Weights were loaded with `strict=False`, and names did not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.moments import saved_here
from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class CheckpointLoadedPartly(Rule):
    """Weights were loaded with names that do not fit.

    ## What it checks
    What `load_state_dict(..., strict=False)` returned: names of the network that the file lacks, and names of the file
    that the network lacks. It is an error where every name is missing, so that nothing at all was loaded; a warning
    where the file was written by this very run; a note else.

    ## Why it matters
    `strict=False` keeps quiet. The network goes on with random weights where a name was missing.

    ## Likely causes
    1. The names have a prefix: `module.` of DistributedDataParallel, `_orig_mod.` of torch.compile. Confirm: print the
       first key of both.
    2. The network was changed since the file was written. Confirm: print what `load_state_dict` returns.
    3. The dict around the weights was given instead of the weights. Confirm: print its keys.

    ## What to try first
    Load with `strict=True`, and read the message.

    ## When it is fine
    When only the trunk of a network is taken over on purpose: a part of the names is missing then.

    ## References
    DLR-RM/stable-baselines3 pull request 2205 (keys of a compiled model).
    """

    code: ClassVar[str] = "CKP304"
    name: ClassVar[str] = "checkpoint-loaded-partly"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        loads = [each for each in evidence.noted("restored") if "missed" in each]
        if not loads and not evidence.noted("load"):
            raise NotEnough("no weights were loaded")
        told: set[str] = set()
        for note in loads:
            line = note.get("line")
            key = str(line)
            if not note["missed"] or note["strict"] or key in told:
                continue
            told.add(key)
            nothing = note["missed"] >= note["of"] and note["of"] > 0
            ours = "file" in note and saved_here(evidence, note["file"], note["update"])
            severity: Severity = "error" if nothing else "warning" if ours else "note"
            names = [f"missing {each}" for each in note["missing"][:2]] + [
                f"unknown {each}" for each in note["unexpected"][:2]
            ]
            yield self.finding(
                "none of the weights was loaded" if nothing else "a part of the weights was not loaded",
                where=Where(file=line[0], line=line[1], update=note["update"])
                if line
                else Where(update=note["update"]),
                seen=f"{note['missed']} of the {note['of']} names of {note['module']} are not among those given, and "
                f"{note['unknown']} given ones are unknown ({', '.join(names)})",
                expected="the same names on both sides",
                help="load with strict=True, and make the names fit",
                confidence=0.95 if nothing else 0.8,
                severity=severity,
            )
