"""Nearly all units of a squashing layer sit at a bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rldebug.evidence.run import Run
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_SATURATED = 4  # column of the table `layers`


@dataclass(frozen=True, kw_only=True)
class SaturatedUnits(Rule):
    """Nearly all units of a squashing layer sit at a bound.

    ## What it checks
    In a tanh or sigmoid layer, the share of units whose output is within 1 % of a bound on every row of the batch,
    over the detailed readings at the end of the run. At the output of a network it is a note.

    ## Why it matters
    At a bound the derivative is nearly 0: the layers before it hardly learn, and what differs between observations
    does not get through.

    ## Likely causes
    1. Observations of large size: positions, counts or pixels that are not scaled. Confirm: `obs/std` is far above 1.
    2. A learning rate that is too high has made the weights large. Confirm: `weight/norm` and `step/log10_ratio`.
    3. An initialisation far too wide. Confirm: the share is high at update 0.
    4. At the output: an actor pushed into the corner of the action space by a critic that overestimates. Confirm:
       `action/std` and `value/max`.

    ## What to try first
    Normalise the observations to mean 0 and standard deviation 1.

    ## When it is fine
    The output of an actor whose best action is at the bound; observations that are the same on every row.

    ## References
    Glorot and Bengio, *Understanding the difficulty of training deep feedforward neural networks*. Hausknecht and
    Stone, *Deep Reinforcement Learning in Parameterized Action Space* (inverting gradients at the bounds).
    """

    code: ClassVar[str] = "NET004"
    name: ClassVar[str] = "saturated-units"
    severity: ClassVar[Severity] = "note"
    needs: ClassVar[tuple[str, ...]] = ("layers/saturated",)
    follows: ClassVar[tuple[str, ...]] = ("OPT004", "NET006", "OPT008")

    share: float = 0.9  # of the units of a layer
    details: int = 4  # detailed readings in a row, at the end of the run

    def check(self, evidence: Run) -> Iterator[Finding]:
        rows: dict[str, list[tuple[int, int, float]]] = {}
        last: dict[str, str] = {}  # of each module, the layer registered last
        for reading, table in evidence.table("layers"):
            for name, cells in table.items():
                last[name.partition(".")[0]] = name
                if len(cells) > _SATURATED and np.isfinite(cells[_SATURATED]):
                    rows.setdefault(name, []).append((reading.update, reading.env_step, cells[_SATURATED]))
        if not any(len(each) >= self.details for each in rows.values()):
            raise NotEnough(f"fewer than {self.details} detailed readings of the layers")
        low, high = evidence["obs/min"].finite, evidence["obs/max"].finite
        if len(low) and len(low) == len(high) and (low.value == high.value).all():
            raise NotEnough("the observations are the same on every row")
        worst: dict[str, tuple[float, str]] = {}
        for name, seen in rows.items():
            at = [each[2] for each in seen[-self.details :]]
            if len(seen) >= self.details and min(at) > self.share:
                module = name.partition(".")[0]
                worst[module] = max(worst.get(module, (0.0, "")), (min(at), name))
        for module, (_, name) in worst.items():
            seen = rows[name]
            output = name == last[module]
            update, env_step, now = next(each for each in seen if each[2] > self.share)
            yield self.finding(
                f"{seen[-1][2]:.0%} of the units of {name} are saturated",
                where=replace(evidence.call("update"), update=update, env_step=env_step, tensor=name),
                seen=f"{now:.0%} of its units are within 1 % of a bound on the whole batch at update {update}, "
                f"{seen[-1][2]:.0%} at update {seen[-1][0]}" + ("; it is the output of the network" if output else ""),
                expected=f"at most {self.share:.0%}, and usually none",
                help="scale the observations to about 1, or lower the learning rate",
                confidence=0.8,
            )
