"""What a network says of one row depends on the other rows of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule

# Layers that give each row the same, whatever is beside it, and each time.
_PLAIN = {"Linear", "Conv1d", "Conv2d", "Conv3d", "Flatten", "Unflatten", "Identity", "Embedding", "LayerNorm"}
_PLAIN |= {"GroupNorm", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", "ZeroPad2d", "ParameterList", "Softplus", "Mish"}
_PLAIN |= {"ReLU", "ReLU6", "LeakyReLU", "PReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Tanh", "Hardtanh", "Sigmoid"}


@dataclass(frozen=True, kw_only=True)
class OutputDependsOnBatch(Rule):
    """What a network says of one row depends on the other rows of the batch.

    ## What it checks
    The same input, given to a Q or value network twice with no step in between, in two batches: when acting and when
    learning, or as observation and as next observation. The outputs differ. Networks with dropout, batch norm, noise or
    memory, and such that take several inputs, are left out.

    ## Why it matters
    The value of a state is then no property of the state: acting and learning see two different networks.

    ## Likely causes
    1. A mean, maximum or norm is taken over the whole batch where it was meant for each row: in a dueling network,
       `advantage.mean()` in place of `advantage.mean(dim=-1, keepdim=True)`. Confirm: compare `net(x)[0]` with
       `net(x[:1])[0]`.
    2. A reshape mixes rows. Confirm: the same.

    ## What to try first
    Give the dimension to every reduction in `forward`.

    ## When it is fine
    Networks over a set or a sequence, in which rows belong together: attention is left out.

    ## References
    Wang et al., *Dueling Network Architectures for Deep Reinforcement Learning* (equation 9).
    """

    code: ClassVar[str] = "NET306"
    name: ClassVar[str] = "output-depends-on-batch"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"

    pairs: int = 16  # of calls with the same input
    audits: int = 2  # in which there are any
    apart: float = 0.05  # of the spread of the outputs: half precision is far below
    share: float = 0.5  # of all pairs
    least: float = 0.25  # of the pairs of each audit

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        judged = False
        for module in sorted(roles.q | roles.critic):
            thing = evidence.modules.get(module, {})
            if not thing.get("owners") or not set(thing.get("layers") or ()) <= _PLAIN or not thing.get("layers"):
                continue
            moved = [each for _, each in evidence.events("weights") if each["module"] == module and each.get("by_hand")]
            if moved or any(each.get("module") == module for each in evidence.things.get("copy", {}).values()):
                continue
            differences, spread, where = self._pairs(evidence, module)
            if sum(map(len, differences.values())) < self.pairs or len(differences) < self.audits or where is None:
                continue
            judged = True
            every = np.concatenate([np.array(each) for each in differences.values()])
            wrong = [float(np.mean(np.array(each) > self.apart * spread)) for each in differences.values()]
            whole = float(np.mean(every > self.apart * spread))
            if spread > 0 and whole >= self.share and min(wrong) >= self.least:
                yield self.finding(
                    f"what {module} says of a row depends on the other rows",
                    where=where.where,
                    seen=f"the same input gives outputs that differ by {np.median(every):.3g} in the median of "
                    f"{len(every)} pairs of batches with no step in between; outputs spread by {spread:.3g}",
                    expected="the same output for the same input",
                    help="give a dimension to every mean, max, std and norm in forward()",
                    confidence=0.9,
                )
        if not judged:
            raise NotEnough("no value network was seen twice on the same input with no step in between")

    def _pairs(self, script: Script, module: str) -> tuple[dict[int, list[float]], float, Event | None]:
        """By audit, how far outputs for one input are apart; how far outputs spread; and a call in training."""
        found: dict[int, list[float]] = {}
        outputs: list[NDArray[np.float64]] = []
        where: Event | None = None
        for audit in script.audits:
            seen: dict[tuple[int, bool, bytes], tuple[int, NDArray[np.float64]]] = {}
            for call in audit.calls:
                given, output = call.arrays.get("input"), call.arrays.get("output0")
                if call["module"] != module or given is None or output is None or output.dtype.kind != "f":
                    continue
                if len(call["inputs"]) != 1 or len(call["outputs"]) != 1 or len(given) != len(output):
                    continue
                where = call if where is None or call["grad"] else where
                orders = call.arrays.get("orders", np.full(len(given), call.order))
                updates = call.arrays.get("updates", np.full(len(given), call.update))
                if not len(orders) == len(updates) == len(given):
                    continue
                outputs.append(np.asarray(output, np.float64).reshape(len(output), -1))
                for row, own in enumerate(outputs[-1]):
                    key = (int(updates[row]), bool(call["training"]), np.ascontiguousarray(given[row]).tobytes())
                    first = seen.setdefault(key, (int(orders[row]), own))
                    if first[0] != int(orders[row]) and first[1].shape == own.shape:
                        found.setdefault(audit.number, []).append(float(np.abs(first[1] - own).max()))
        widths = {each.shape[1] for each in outputs}
        spread = float(np.concatenate(outputs).std(axis=0).mean()) if len(widths) == 1 else 0.0
        return found, spread, where
