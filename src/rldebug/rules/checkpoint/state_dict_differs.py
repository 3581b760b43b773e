"""A checkpoint does not fit the network it is loaded into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_PREFIXES = {
    "module.": "as DistributedDataParallel and DataParallel write them",
    "_orig_mod.": "as a compiled module writes them",
}
_SIZES = re.compile(
    r"size mismatch for (\S+): copying a param with shape torch\.Size\(\[([\d, ]*)\]\) from checkpoint, "
    r"the shape in current model is torch\.Size\(\[([\d, ]*)\]\)"
)
Shapes = tuple[str, list[int], list[int]]  # name, in the checkpoint, in the network


@dataclass(frozen=True, kw_only=True)
class StateDictDiffers(Rule):
    """A checkpoint does not fit the network it is loaded into.

    ## What it checks
    `load_state_dict` refused: keys are missing or unexpected, or sizes differ. A prefix that all names have, a
    checkpoint that holds the weights one level down, and what a changed size stands for are told.

    ## Why it matters
    The network that was saved is not the one that was made.

    ## Likely causes
    1. It was saved from a compiled or distributed module, whose names begin with `_orig_mod.` or `module.`. Confirm:
       look for them.
    2. The environment was changed: a first layer of another width is another observation, a last layer of another width
       another action space. Confirm: print both spaces.
    3. The network was changed, or made with other settings. Confirm: compare the names and sizes in the message.
    4. A whole checkpoint, or one of another network, was given. Confirm: print its keys.

    ## What to try first
    Print the keys and shapes of both.

    ## When it is fine
    Never: the program has ended. `strict=False` only hides it: what is missing stays untrained.

    ## References
    PyTorch, *Saving and loading models*.
    """

    code: ClassVar[str] = "CKP401"
    name: ClassVar[str] = "state-dict-differs"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says(
            r"Error\(s\) in loading state_dict",
            "state_dict.*(size mismatch|Missing key)",
            "Expected state_dict to be dict-like",
        )

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        missing, unexpected = (_keys(evidence.message, kind) for kind in ("Missing", "Unexpected"))
        sizes = [(name, _numbers(saved), _numbers(made)) for name, saved, made in _SIZES.findall(evidence.message)]
        seen, help = (
            _prefixed(missing, unexpected)
            or _one_level_down(missing, unexpected)
            or _resized(sizes)
            or _listed(missing, unexpected)
            or (evidence.said, "give it the state_dict() of a network like this one: print the keys and shapes of both")
        )
        yield self.finding(
            "a checkpoint does not fit the network it is loaded into",
            where=evidence.where,
            seen=seen,
            expected="the names and sizes of the network",
            help=help,
            confidence=0.95,
        )


def _keys(message: str, kind: str) -> list[str]:
    found = re.search(rf"{kind} key\(s\) in state_dict: (.*)", message)
    return re.findall(r'"([^"]+)"', found[1]) if found else []


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",") if each.strip()]


def _prefixed(missing: list[str], unexpected: list[str]) -> tuple[str, str] | None:
    """All names of one side are those of the other with something before them."""
    for longer, shorter, saved in ((unexpected, missing, True), (missing, unexpected, False)):
        before = next((one[: -len(two)] for one in longer[:1] for two in shorter if one.endswith(f".{two}")), "")
        if not before or not all(one.startswith(before) for one in longer):
            continue
        why = f", {_PREFIXES[before]}" if before in _PREFIXES else ""
        if saved:
            return (
                f"the names in the checkpoint begin with {before!r}{why}: {longer[0]} for {longer[0][len(before) :]}",
                f"load {{name.removeprefix({before!r}): value for name, value in saved.items()}}, "
                f"or save {_inner(before)}.state_dict()",
            )
        return (
            f"the names of the network begin with {before!r}{why}, those in the checkpoint are without: "
            f"{longer[0]} for {longer[0][len(before) :]}",
            f"load into what is inside: {_inner(before)}.load_state_dict(saved)",
        )
    return None


def _inner(prefix: str) -> str:
    return f"network.{prefix.rstrip('.')}"


def _one_level_down(missing: list[str], unexpected: list[str]) -> tuple[str, str] | None:
    parts = {"weight", "bias", *(each for each in missing)}
    if not missing or not unexpected or any("." in each or each in parts for each in unexpected):
        return None
    return (
        f"what was given holds {_some(unexpected)}, and none of the weights: {_some(missing)}",
        f"the weights are one level down: load_state_dict(saved[{unexpected[0]!r}]), or whichever of them they are",
    )


def _resized(sizes: list[Shapes]) -> tuple[str, str] | None:
    """A layer's weight is (outputs, inputs, …): which side changed tells what did."""
    weights = [each for each in sizes if len(each[1]) == len(each[2]) >= 2]
    if not sizes:
        return None
    outputs = [each for each in weights if each[1][0] != each[2][0]]
    inputs = [each for each in weights if each[1][1] != each[2][1]]
    name, saved, made = (weights or sizes)[0]
    told = f"{name} is {tuple(saved)} in the checkpoint and {tuple(made)} in the network"
    if inputs and not outputs:
        return (
            f"{told}: its inputs went from {saved[1]} to {made[1]}",
            "the observation was changed: another environment, wrapper or number of stacked frames than it was "
            "trained with. Make both with one function",
        )
    if outputs and not inputs:
        return (
            f"{told}: its outputs went from {saved[0]} to {made[0]}",
            "the action space was changed, or the number of atoms or values the network gives. Make it with the "
            "settings it was trained with",
        )
    if inputs and outputs:
        return (
            f"{told}: from {saved[0]} to {made[0]} outputs, and {len(sizes) - 1} more differ",
            "the hidden layers have another width: make the network with the settings that were saved, and save them "
            "with the weights",
        )
    return told, "make the network with the settings it was trained with, and save them with the weights"


def _listed(missing: list[str], unexpected: list[str]) -> tuple[str, str] | None:
    if not missing and not unexpected:
        return None
    parts = [f"missing {_some(missing)}"] * bool(missing) + [f"unexpected {_some(unexpected)}"] * bool(unexpected)
    return (
        f"in the checkpoint: {', '.join(parts)}",
        "the network has other layers than the one that was saved, or the checkpoint is of another network: "
        "print the keys of both. strict=False would leave what is missing untrained",
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
