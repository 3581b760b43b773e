"""Equal networks are called one after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.timing import WORTH, Measured, Network, Slice, Timing, total
from rldebug.evidence.timings.amounts import of_the_run
from rldebug.evidence.timings.copies import asked_in_turn, equal_networks, equal_parts, multiplied_in_turn, networks_in
from rldebug.evidence.timings.loops import Loop, in_network, places
from rldebug.evidence.timings.telling import lasting, weight
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule


@dataclass(frozen=True, kw_only=True)
class NetworksInPythonLoop(Rule):
    """Equal networks are called one after another.

    ## What it checks
    Time in which the loss calls the networks of a list in turn, `[q(obs) for q in self.critics]`, each on its own, or
    multiplies one set of weights after another; and what the same networks take on this machine when they are stacked
    into one. Of the optimizer, as much as its tensors belong to equal networks.

    ## Why it matters
    Small networks take as long as their operations take to start. Ten of them stacked start as many operations as one,
    forward and backward.

    ## Likely causes
    1. An ensemble, several critics or several target networks are kept in a list. Confirm: read the line that is named.

    ## What to try first
    Stack them with `rldebug.parts.ensemble.Ensemble`, or `torch.func.stack_module_state` and `torch.vmap`.

    ## When it is fine
    Large networks, which keep all cores or the GPU busy on their own; then nothing is said.

    ## References
    PyTorch, *Model ensembling*; Chen et al., *Randomized Ensembled Double Q-Learning*.
    """

    code: ClassVar[str] = "PRF914"
    name: ClassVar[str] = "networks-in-python-loop"
    severity: ClassVar[Severity] = "warning"
    reads: ClassVar[str] = "Timing"

    fewest: int = 3  # networks, where it was not measured what two would gain
    otherwise: float = 1.5  # times what one network takes is left, where it was not measured on this machine
    small: int = 100_000  # parameters up to which that is assumed

    def check(self, evidence: Timing) -> Iterator[Finding]:
        around = {each: loop for each in evidence.of(where=_asks) if (loop := _loop(evidence, each)) is not None}
        if not around:
            return
        found = list(around)
        counts = [count for loop in around.values() if (count := networks_in(loop)) is not None]
        copies = max(counts, default=equal_networks(evidence))
        measured = evidence.yardstick.get("ensemble")
        if copies < (self.fewest if measured is None else 2):
            return
        if measured is not None and measured.instead:
            both = measured.seconds / measured.instead
            alone, step = _left(measured, "forward", both), _left(measured, "step", 1.0)
        elif any(each.parameters > copies * self.small for each in evidence.networks):
            return
        else:
            both = alone = min(1.0, self.otherwise / copies)
            step = both if _on_cpu(evidence) else 1.0  # tensor by tensor there
        learned = total(each for each in found if each.grad)
        watched = total(found) - learned
        # Of backward, as much belongs to these networks as of the forward passes that it goes through.
        every = total(each for each in evidence.of("loss") if each.grad and (in_network(each) or each in around))
        backward = total(evidence.of("backward")) * (min(1.0, learned / every) if every else 0.0)
        stepping = total(evidence.of("optimizer")) * _tensors(evidence) if learned else 0.0
        seconds = learned + backward + watched + stepping
        speedup = evidence.speedup(seconds, both * (learned + backward) + alone * watched + step * stepping)
        if speedup < WORTH:
            return
        times = max(1, evidence.updates)
        yield self.finding(
            f"{copies} equal networks are called one after another",
            where=evidence.where(_at_loops(found, around)),
            seen=f"{lasting(seconds / times)} per update, with the optimizer's step; {of_the_run(evidence, seconds)}",
            expected="about as long as one or two of them, when they are stacked"
            if measured is None or measured.instead is None
            else f"{measured.what}: {lasting(measured.seconds)} on this machine, {lasting(measured.instead)} in a loop",
            help="stack them with rldebug.parts.ensemble.Ensemble (torch.vmap over torch.func.stack_module_state)",
            confidence=0.85,
            severity=weight(speedup),
            speedup=speedup,
        )


def _asks(piece: Slice) -> bool:
    return piece.part in ("loss", "acting", "other", "advantages") and not piece.inside and piece.before != "start"


def _loop(timing: Timing, piece: Slice) -> Loop | None:
    """While it learns; and while it acts, where weights are multiplied without a module."""
    if in_network(piece):
        asked = (asked_in_turn(*place) for place in places(timing, piece)) if piece.part == "loss" else iter(())
    else:
        asked = (multiplied_in_turn(*place) for place in places(timing, piece))
    return next((loop for loop in asked if loop is not None), None)


def _left(measured: Measured, name: str, otherwise: float) -> float:
    alone, in_turn = (measured.detail.get(each, 0.0) for each in (name, f"{name}_loop"))
    return alone / in_turn if alone and in_turn else otherwise


def _tensors(timing: Timing) -> float:
    """The part of the tensors that the optimizers step which belong to equal networks; all, where nothing is known."""
    trained = [each for each in timing.networks if each.optimizer]
    equal = sum(_equal_tensors(each, trained) for each in trained)
    return equal / sum(len(each.shapes) for each in trained) if trained else 1.0


def _equal_tensors(network: Network, trained: list[Network]) -> int:
    if sum(each.shapes == network.shapes for each in trained) > 1:
        return len(network.shapes)
    part, times = equal_parts(network)
    return times * len(part) if times > 1 else 0


def _on_cpu(timing: Timing) -> bool:
    return all(each.device == "cpu" for each in timing.networks)


def _at_loops(found: list[Slice], around: dict[Slice, Loop]) -> list[Slice]:
    """The stacks down to the line of the loop: further down is the network's own text."""
    cut = []
    for each in found:
        node = around[each].node
        first, last = node.lineno, node.end_lineno or node.lineno
        at = [
            place
            for place, spot in enumerate(each.stack)
            if spot.file == around[each].source.file and first <= spot.line <= last
        ]
        cut.append(Slice(each.seconds, each.samples, each.stack[: at[-1] + 1] if at else each.stack))
    return cut
