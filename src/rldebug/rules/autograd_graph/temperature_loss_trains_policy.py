"""The temperature's loss takes the entropy bonus back from the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Event, Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.updates import cleared, held, updates_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class TemperatureLossTrainsPolicy(Rule):
    """The temperature's loss takes the entropy bonus back from the policy.

    ## What it checks
    In soft actor-critic, the log-prob of an action that carries its graph stands in the actor's loss, with the
    temperature before it. It stands a second time, with the opposite sign and times a temperature that is learned, in
    what the policy's optimizer steps on. Exact.

    ## Why it matters
    The two gradients cancel: the policy is not rewarded for entropy at all, and grows deterministic however the
    temperature rises.

    ## Likely causes
    1. `log_prob` is not detached in the loss of the temperature. Confirm: look for
       `-(log_alpha * (log_prob + target_entropy).detach())`.

    ## What to try first
    Detach `log_prob + target_entropy` in the temperature's loss.

    ## When it is fine
    Where the policy's gradients are cleared between the two: nothing is said then.

    ## References
    Haarnoja et al., *Soft Actor-Critic Algorithms and Applications*.
    """

    code: ClassVar[str] = "GRA300"
    name: ClassVar[str] = "temperature-loss-trains-policy"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Script"
    aim: ClassVar[str] = "loss"

    times: int = 3  # steps of the policy's optimizer that show it
    share: float = 0.8  # of the steps of the policy's optimizer

    def check(self, evidence: Script) -> Iterator[Finding]:
        terms = {
            id(loss): [each for each in own if each["kind"] == "output" and each.get("op") == "logp"]
            for audit in evidence.audits
            for loss, own in audit.losses
        }
        if sum(map(bool, terms.values())) < self.times:
            raise NotEnough("no loss was seen with a log-prob of an action that carries its graph")
        for name, updates in updates_of(evidence).items():
            own = held(evidence, name)
            bonus, back = [], []
            for update in updates:
                found: list[Event] = []
                for each in update.before:
                    if each.kind == "zero" and cleared(evidence, each) >= own:
                        found = []
                    elif each.kind == "loss":
                        found += [term for term in terms.get(id(each), ()) if set(term.get("reached") or ()) & own]
                learned = [each for each in found if "weight" in (each.get("sides") or {})]
                plain = [each for each in found if "weight" not in (each.get("sides") or {})]
                if plain:
                    bonus.append(update)
                    signs = {float(each["coefficient"]) > 0 for each in plain}
                    if len(signs) == 1 and any((float(each["coefficient"]) > 0) not in signs for each in learned):
                        back.append(learned[0])
            if len(back) >= self.times and len(back) >= self.share * len(bonus):
                plus = next(each for each in terms.values() if each)[0]
                yield self.finding(
                    "the loss of the temperature leads into the policy",
                    where=back[0].where,
                    seen=f"the log-prob with coefficient {float(plus['coefficient']):.3g} in the actor's loss, and "
                    f"with {float(back[0]['coefficient']):.3g} times a learned temperature, in {len(back)} of "
                    f"{len(bonus)} steps of optimizer {name}",
                    expected="a temperature's loss that leads to the temperature alone",
                    help="detach the log-prob in the loss of the temperature",
                    confidence=0.95,
                )
