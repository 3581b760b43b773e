"""Pictures are reshaped where their channels were to be moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.populations import Population, populations
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule

_PLAIN = ("raw", "scaled", "centred")  # the bytes of the observation in their own order


@dataclass(frozen=True, kw_only=True)
class ChannelsNotTurned(Rule):
    """Pictures are reshaped where their channels were to be moved.

    ## What it checks
    Observations are pictures of height, width and channels. What a network is given has the shape channels, height,
    width; and its numbers, in their order, are still those of the observation. Of a picture whose axis was moved they
    stand in another order.

    ## Why it matters
    `reshape` cuts the same numbers into other pieces: each channel of the result is a stripe of the picture in which
    all colours alternate. A convolution sees neither colours nor neighbours. Nothing fails; little is learned.

    ## Likely causes
    1. `x.reshape(n, c, h, w)` or `.view(...)` where `x.permute(0, 3, 1, 2)` was meant. Confirm: plot the first channel
       of what enters the first layer.

    ## What to try first
    `x.permute(0, 3, 1, 2)`, or `np.moveaxis(x, -1, 1)`.

    ## When it is fine
    Pictures of one channel, which are left in peace: there both are the same.

    ## References
    torch, `Tensor.permute` and `Tensor.view`.
    """

    code: ClassVar[str] = "PRE250"
    name: ClassVar[str] = "channels-not-turned"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    rows: int = 32  # pictures given in that shape that are not of one colour
    share: float = 0.9  # of them in the order of the observation; a moved axis leaves it in none but blank pictures

    def check(self, evidence: Script) -> Iterator[Finding]:
        stream = roles_of(evidence).stream
        thing = evidence.streams[stream] if stream is not None and stream < len(evidence.streams) else {}
        turned = self._turned(thing)
        if turned is None:
            return
        mine = [each for each in populations(evidence) if each.shape[-3:] == turned and len(each.shape) == 3]
        if not mine:
            return
        if max(self._patterned(each) for each in mine) < self.rows:
            raise NotEnough(f"no network was given {self.rows} pictures that are not of one colour")
        for each in mine:
            count = sum(each.ways.values())
            plain = sum(each.ways.get(way, 0) for way in _PLAIN)
            if self._patterned(each) >= self.rows and plain >= self.share * count and each.found >= self.share:
                yield self.finding(
                    "pictures are reshaped where their channels were to be moved",
                    where=each.first.where,
                    seen=f"pictures of the shape {turned} with the numbers of observations of the shape "
                    f"{tuple(thing['shape'])} in their old order, in {plain} of {count} rows",
                    expected="the channels moved to the front: other places in memory",
                    help="permute(0, 3, 1, 2) in place of reshape or view",
                    confidence=0.95,
                )
                return

    def _turned(self, thing: Mapping[str, Any]) -> tuple[int, ...] | None:
        """The shape with the channels first, of pictures that come with theirs last."""
        shape = tuple(thing.get("shape") or ())
        if len(shape) != 3 or not 1 < shape[2] <= 16 or min(shape[:2]) < 3:
            return None
        turned = (shape[2], shape[0], shape[1])
        return turned if turned != shape else None

    def _patterned(self, population: Population) -> int:
        rows = population.rows
        spread = rows[:, 3] if population.wide else rows.std(axis=1)
        return int((spread > 0).sum())
