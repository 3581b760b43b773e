"""Gradients of one network are clipped, those of a larger one in the same optimizer are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import Update, updates_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class ClippingLeavesNetworkOut(Rule):
    """Clipping leaves out a network of the same optimizer.

    ## What it checks
    An optimizer holds several networks. Before each of its steps gradients are clipped, but only those of some; and a
    network that is left out has a gradient several times as long as theirs, and often beyond the limit. Exact.

    ## Why it matters
    The largest gradients, mostly those of a critic, are the ones that the limit was there for.

    ## Likely causes
    1. `clip_grad_norm_` is given the parameters of one of the networks. Confirm: read its first argument.
    2. A network was added to the optimizer later. Confirm: look where the optimizer is made.

    ## What to try first
    Clip what the optimizer holds: `[p for group in optimizer.param_groups for p in group["params"]]`.

    ## When it is fine
    Where one network is to be left free on purpose.

    ## References
    PyTorch, `torch.nn.utils.clip_grad_norm_`.
    Seen in the wild: OPT-07 of bench/bugs/sources.toml.
    """

    code: ClassVar[str] = "OPT303"
    name: ClassVar[str] = "clipping-leaves-network-out"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Script"

    steps: int = 8  # with clipping before them
    above: float = 0.25  # share of the steps in which the network that is left out is beyond the limit
    larger: float = 3.0  # its gradient over that of what is clipped
    share: float = 0.9  # of the steps in which it is
    weights: int = 100  # of a network; fewer may be left out: a log-std, a temperature

    def check(self, evidence: Script) -> Iterator[Finding]:
        judged = False
        for name, updates in updates_of(evidence).items():
            clipped = [each for each in updates if each.of("clip") and len(each.step.get("grad_norms") or ()) > 1]
            if len(clipped) < self.steps:
                continue
            judged = True
            for module in sorted({key for each in clipped for key in each.step["grad_norms"]}):
                if int(evidence.modules.get(module, {}).get("parameters") or 0) < self.weights:
                    continue
                shown = [each for each in clipped if self._left_out(each, module)]
                beyond = [each for each in shown if _norm(each, module) > _limit(each)]
                if len(shown) < self.share * len(clipped) or len(beyond) < self.above * len(clipped):
                    continue
                clip = shown[0].of("clip")[-1]
                norms = sorted(_norm(each, module) for each in shown)
                yield self.finding(
                    f"the gradient of {module} is left out when gradients are clipped",
                    where=clip.where,
                    seen=f"{', '.join(clip['modules'])} clipped to {clip['limit']:g}; the gradient of {module}, in the "
                    f"same optimizer {name}, has norm {norms[len(norms) // 2]:.3g} in the median of {len(shown)} steps",
                    expected="all gradients that the optimizer uses within the limit",
                    help="give clip_grad_norm_ the parameters of all networks that the optimizer holds",
                    confidence=0.85,
                )
        if not judged:
            raise NotEnough(f"no optimizer of several networks with {self.steps} steps after clipping")

    def _left_out(self, update: Update, module: str) -> bool:
        """Another network of this very optimizer is clipped, this one is not, and has the larger gradient by far."""
        clips = update.of("clip")
        given = {name for each in clips for name in each.get("modules") or ()}
        clipped = given & set(update.step["grad_norms"])
        if module in given or not clipped or not 0 < _limit(update) < 1e6:
            return False
        return _norm(update, module) > self.larger * max(_norm(update, name) for name in clipped)


def _norm(update: Update, module: str) -> float:
    return float(update.step["grad_norms"].get(module) or 0.0)


def _limit(update: Update) -> float:
    return max(float(each["limit"] or 0.0) for each in update.of("clip"))
