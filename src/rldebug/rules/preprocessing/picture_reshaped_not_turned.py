"""The axes of pictures are exchanged by reshape(), which scrambles the pixels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity, Where
from rldebug.rule import NotEnough, Rule

_LAYERS = ("Conv1d", "Conv2d", "Conv3d", "LazyConv2d")  # that care which axis is which


@dataclass(frozen=True, kw_only=True)
class PictureReshapedNotTurned(Rule):
    """Pictures are reshaped to channels first, which scrambles them.

    ## What it checks
    Observations are pictures of height, width and channels; a network with convolutions is given batches of the form
    channels, height, width; and the numbers in these follow one another in memory just as in the observations. So the
    axes were not moved: the same row of numbers was cut up in another way. The same is seen where a network is given
    pictures with their channels last, and what it gives to its first layer has them first. Exact.

    ## Why it matters
    What the network takes for one channel is a slice of the picture with all channels mixed, at a fraction of its size.
    Neighbours are no neighbours any more. It learns something all the same, which is why nobody notices.

    ## Likely causes
    1. `reshape(n, c, h, w)` or `view` was written for `permute(0, 3, 1, 2)`. Confirm: show one channel of a picture as
       the network has it.
    2. A replay allocates its array as (c, h, w) and flat pictures are written into it. Confirm: the same.

    ## What to try first
    `x.permute(0, 3, 1, 2)`, or `np.moveaxis(x, -1, 1)`.

    ## When it is fine
    With one channel both are the same, and nothing is said.

    ## References
    PyTorch documentation, *torch.Tensor.permute*, beside *torch.Tensor.reshape*.
    """

    code: ClassVar[str] = "PRE270"
    name: ClassVar[str] = "picture-reshaped-not-turned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    calls: int = 4  # with pictures of another form
    channels: int = 16  # at most: more are no channels, but a side of a picture
    share: float = 0.9  # of these calls

    def check(self, evidence: Script) -> Iterator[Finding]:
        inside = self._inside(evidence)
        if inside is not None:
            yield inside
            return
        shapes = {
            tuple(map(int, each.get("shape") or ())) for each in evidence.streams if len(each.get("shape") or ()) == 3
        }
        turned: dict[tuple[int, ...], tuple[int, ...]] = {
            (c, h, w): (h, w, c) for h, w, c in shapes if 1 < c <= self.channels and c < min(h, w)
        }
        if not turned:
            raise NotEnough("no environment shows pictures with their channels last")
        ways: Counter[str] = Counter()
        first: Event | None = None
        for _, event in evidence.events("call"):
            form = self._form(event)
            if form not in turned or not self._convolves(evidence, event):
                continue
            kept = event["match"] in ("raw", "scaled", "centred")
            ways["kept" if kept else "turned" if event["match"] == "channels-first" else "other"] += 1
            first = event if kept and first is None else first
        count = sum(ways.values())
        if count < self.calls:
            raise NotEnough(f"{count} calls with pictures whose channels come first")
        if first is None or ways["turned"] or ways["kept"] < self.share * count:
            return
        form = self._form(first)
        yield self.finding(
            "pictures are cut up anew where their axes were to be moved",
            where=first.where,
            seen=f"observations of the form {turned[form]} and inputs of the form {form} hold the same "
            f"{math.prod(form)} numbers in the same order, in {ways['kept']} of {count} calls",
            expected="each channel of the input is a channel of the picture",
            help="permute(0, 3, 1, 2) in place of reshape or view",
            confidence=0.96,
        )

    def _inside(self, script: Script) -> Finding | None:
        """By the network itself, on the way to its first layer."""
        calls = [event for _, event in script.events("call") if event.get("axes")]
        kept = [event for event in calls if event["axes"] == "kept"]
        count = sum(int(each.get("calls", 1)) for each in kept)
        if count < self.calls or len(kept) < len(calls):
            return None
        form, line = self._form(kept[0]), kept[0].get("axes_line")
        return self.finding(
            "pictures are cut up anew where their axes were to be moved",
            where=Where(file=line[0], line=line[1], update=kept[0].update) if line else kept[0].where,
            seen=f"{kept[0]['module']} is given pictures of the form {form}, and its first layer gets "
            f"{(form[2], *form[:2])} with the same {math.prod(form)} numbers in the same order, in {count} calls",
            expected="each channel of the input is a channel of the picture",
            help="permute(0, 3, 1, 2) in place of reshape or view",
            confidence=0.96,
        )

    def _form(self, event: Event) -> tuple[int, ...]:
        inputs = event.get("inputs") or ()
        return tuple(int(each) for each in (inputs[0].get("shape") or ())[-3:]) if inputs else ()

    def _convolves(self, script: Script, event: Event) -> bool:
        layers = script.modules.get(str(event["module"]), {}).get("layers") or {}
        return any(each in layers for each in _LAYERS)
