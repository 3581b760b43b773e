"""The loss is a plain number: nothing can be learned from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from rldebug.evidence.crash import Crash
from rldebug.evidence.crashes.lines import at, listed, shown
from rldebug.evidence.crashes.signs import operands_told
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class LossWithoutGraph(Rule):
    """The loss is a plain number: nothing can be learned from it.

    ## What it checks
    `backward()` was called on a tensor that does not lead to any parameter.

    ## Why it matters
    No parameter can get a gradient from it.

    ## Likely causes
    1. Log-probs or values were stored as numbers, detached or under `no_grad`, and the loss is made from those.
       Confirm: `requires_grad` of each term of the loss.
    2. `torch.tensor(list_of_tensors)` copies the numbers and drops the graph. Confirm: look for it in the loss;
       `torch.stack` keeps it.
    3. The update itself, or a function that it shares with acting, runs under `torch.no_grad()`. Confirm:
       `torch.is_grad_enabled()` in there.
    4. The parameters are frozen; or those of the critic rightly are, and the action is not the actor's. Confirm:
       `requires_grad` of the action.

    ## What to try first
    Print `requires_grad` of each term of the loss, and go back from the first that is False.

    ## When it is fine
    Never: the program has ended.

    ## References
    PyTorch, *Autograd mechanics*.
    """

    code: ClassVar[str] = "GRA403"
    name: ClassVar[str] = "loss-without-graph"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return evidence.says("does not require grad and does not have a grad_fn")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        graph = evidence.graph
        cut = graph.get("cut")
        loss = str(graph.get("loss", {}).get("name", "")) or "the loss"
        network = f" to {graph['network']}" if graph.get("network") else ""
        if graph.get("missing"):
            yield self._does_not_use(evidence, loss)
            return
        by = " and ".join(_cause(each) for each in (*cut.get("also", [])[::-1], cut["by"])) if cut else ""
        on = f" on {cut['function']}()" if cut and cut.get("function") else ""
        cause = f"the way{network} is cut by {by} in {shown(evidence, cut)}" if cut else ""
        others = "".join(f"; by {_cause(kind)} in line {line} too" for line, kind in graph.get("others", ()))
        yield self.finding(
            f"{loss} carries no graph"
            if not cut
            else f"{loss} carries no graph: {by}{on} {'cut' if cut.get('also') else 'cuts'} it off",
            where=at(evidence, cut),
            seen=f"{evidence.said}; {cause}{others}" if cut else f"{evidence.said}{operands_told(evidence)}",
            expected="a loss that leads back to the parameters",
            help=_help(cut, by, str(graph.get("name", "")), network) if cut else _ANEW,
            confidence=0.95,
        )

    def _does_not_use(self, evidence: Crash, loss: str) -> Finding:
        """The only network in the loss is frozen, and not the one that is to learn from it."""
        graph = evidence.graph
        networks, frozen = listed(graph["missing"]), graph["frozen"]
        optimizer = graph["optimizer"] or "its optimizer"
        return self.finding(
            f"{loss} carries no graph: it does not use {networks}, which {optimizer} trains",
            where=evidence.where,
            seen=f"{evidence.said}; it leads only to {frozen}, which is frozen",
            expected=f"a loss that leads back to {networks}",
            help=f"give {frozen} what {networks} puts out, computed anew with its graph; {frozen} may stay frozen",
            confidence=0.95,
        )


_ANEW = "compute the log-prob or value anew in the update, without detach(), no_grad() or a way through NumPy"


_SWITCHES = {name: f"torch.{name}()" for name in ("no_grad", "inference_mode", "set_grad_enabled")}


def _cause(by: str) -> str:
    return {**_SWITCHES, "frozen": "a network whose parameters are all frozen"}.get(by, by)


def _help(cut: dict[str, Any], every: str, name: str, network: str) -> str:
    by, what = str(cut["by"]), name or "it"
    if by == "frozen":
        return f"let the parameters{network} that are to learn require a gradient: requires_grad_(True)"
    if cut.get("at_work"):
        return f"take @{_cause(by)} off {cut['function']}(): backward() is called under it"
    if by in _SWITCHES:
        what = f"what {cut['function']}() gives" if cut.get("function") else what
        return f"compute {what} outside of {by}() in the update; what was stored while acting is data"
    if cut.get("also"):
        kept = ": keep the tensors, in a list for torch.stack(), or compute them anew in the update"
        each = ": each of them cuts it"
        return f"leave {every} out on the way of {what} to the loss{kept if 'numpy()' in every else each}"
    if by.endswith(("tensor()", "Tensor()")):
        return f"{by} copies the numbers and drops the graph: use torch.stack() or torch.cat() of the tensors"
    if by in ("a comparison", "argmax()", "argmin()", "long()", "int()", "bool()", "byte()") or "argm" in by:
        return f"{by} has no gradient: learn from the log-prob or the value of the action, not from its number"
    if by in ("item()", "tolist()", "float()"):
        return f"keep {what} a tensor: {by} makes a plain number of it"
    return f"leave {by} out on the way of {what} to the loss; only targets and advantages are detached"
