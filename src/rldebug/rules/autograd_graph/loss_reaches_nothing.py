"""A loss does not depend on the network it is meant to train."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from rldebug.evidence.run import Run
from rldebug.evidence.tensors import tensor_histories
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class LossReachesNothing(Rule):
    """A loss does not depend on the network it is meant to train.

    ## What it checks
    The policy loss or the value loss carries a graph, so `backward()` works on it; but that graph leads to none of
    the parameters of the policy, or of the critic. The network belongs to a watched optimizer and its weights do not
    change.

    ## Why it matters
    The step runs, the loss is printed, and the network stays what it was at the start.

    ## Likely causes
    1. The loss is computed with another network: the target network, or a copy made before the optimizer was.
       Confirm: `id()` of the parameters in the loss against those in the optimizer.
    2. The network's output is detached, and what still requires grad is something else, such as a learned
       temperature. Confirm: the `grad_fn` chain of the loss.
    3. The network handed to `rldebug.watch` is not the one that is trained. Confirm: `parameter-in-no-optimizer`, and
       the arguments of the call.

    ## What to try first
    Print `id(next(net.parameters()))` where the network is called for the loss and where the optimizer is made.

    ## When it is fine
    A network trained through copies of its parameters (`torch.func`): its weights change, and the rule stays quiet.

    ## References
    PyTorch, *Autograd mechanics*. PyTorch, `torch.func.functional_call`.
    """

    code: ClassVar[str] = "GRA009"
    name: ClassVar[str] = "loss-reaches-nothing"
    severity: ClassVar[Severity] = "error"
    facts: ClassVar[tuple[str, ...]] = ("reach", "parameters")

    span: int = 8  # updates over which the weights must stand still

    def check(self, evidence: Run) -> Iterator[Finding]:
        yield from self._cut_off(evidence)
        audits = [value["modules"] for _, value in evidence.facts("parameters")]
        tensors = tensor_histories(evidence)
        for loss, module in (("policy", "policy"), ("value", "critic")):
            recorded = [
                (reading, reach[loss][module])
                for reading, reach in evidence.facts("reach")
                if module in reach.get(loss, {})
            ]
            if not recorded or any(entry["reached"] or not entry["of"] for _, entry in recorded):
                continue
            owned = any(sum(audit.get(module, {}).get("owners", {}).values()) for audit in audits)
            own = [each for each in tensors if each.module == module]
            if not owned or not all(each.still for each in own):
                continue
            if not own or max(each.span for each in own) < self.span:
                raise NotEnough(f"the weights of the {module} were read over fewer than {self.span} updates")
            first, entry = recorded[0]
            times, span = len(recorded), f"updates {own[0].update[0]} and {own[0].update[-1]}"
            yield self.finding(
                f"the {loss} loss does not depend on the {module}",
                where=replace(
                    evidence.call("update"), update=first.update, env_step=first.env_step, tensor=f"loss/{loss}"
                ),
                seen=f"its graph leads to 0 of {entry['of']} parameter tensors of the {module} at {times} of {times} "
                f"readings; the {module} is the same at {span}",
                expected=f"the {loss} loss to reach the {module}",
                help=f"check which network this loss is computed with: not the {module} that the optimizer holds",
                confidence=0.95,
            )

    def _cut_off(self, run: Run) -> Iterator[Finding]:
        """A loss without a graph beside one that has a graph: whatever is added to it, nothing is learned from it."""
        recorded = run.facts("detached")
        for loss in ("policy", "value"):
            if len(recorded) < 3 or not all(loss in names for _, names in recorded):
                continue
            first = recorded[0][0]
            yield self.finding(
                f"the {loss} loss carries no graph",
                where=replace(run.call("update"), update=first.update, env_step=first.env_step, tensor=f"loss/{loss}"),
                seen=f"requires_grad is False for it at {len(recorded)} of {len(recorded)} detailed readings, and True "
                "for another loss of the same updates",
                expected=f"a {loss} loss that backward() can follow to the network",
                help="look for a detach(), a no_grad() or a trip through numpy between the network and this loss",
                confidence=0.8,
                severity="warning",
            )
