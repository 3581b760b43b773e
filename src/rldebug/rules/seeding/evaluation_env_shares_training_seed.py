"""The environment that is evaluated in was given the seed of the one that is trained in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.script import Script
from rldebug.finding import Finding, Severity
from rldebug.forensics.roles import roles_of
from rldebug.rule import NotEnough, Rule


@dataclass(frozen=True, kw_only=True)
class EvaluationEnvSharesTrainingSeed(Rule):
    """Evaluation is reset with a seed of the training.

    ## What it checks
    An environment that is stepped and never learned from is reset with a seed that the environment of the training
    was reset with too; both are of the same kind.

    ## Why it matters
    The first evaluation episodes begin as the first training episodes did. Where the start decides much (mazes,
    levels, opponents), the score is that of levels the policy was trained on.

    ## Likely causes
    1. Both are reset with the seed of the run. Confirm: print both seeds.

    ## What to try first
    Give the evaluation a seed far from that of the training: `seed + 10_000`.

    ## When it is fine
    Where all starts are alike, or few. This is a note.

    ## References
    Cobbe et al., *Quantifying Generalization in Reinforcement Learning* (levels of training and test kept apart).
    """

    code: ClassVar[str] = "SEE303"
    name: ClassVar[str] = "evaluation-env-shares-training-seed"
    severity: ClassVar[Severity] = "note"
    reads: ClassVar[str] = "Script"

    def check(self, evidence: Script) -> Iterator[Finding]:
        roles = roles_of(evidence)
        if roles.stream is None or not roles.others:
            raise NotEnough("no second environment was seen")
        by_index = {int(each["index"]): each for each in evidence.streams}
        training = by_index.get(roles.stream)
        if training is None:
            raise NotEnough("the environment of the training is not known")
        seeds = _seeds(training.get("seeds", ()), int(training.get("lanes", 1)))
        for index in sorted(roles.others):
            other = by_index[index]
            shared = seeds & _seeds(other.get("seeds", ()), int(other.get("lanes", 1)))
            # A second stream that updates came from is the training, taken up again.
            if shared and other.get("name") == training.get("name") and not other.get("learned"):
                yield self.finding(
                    "evaluation begins from the seeds of the training",
                    seen=f"{other['name']} for evaluation was reset with {min(shared)}, as was that of the training",
                    expected="seeds that the training never uses",
                    help="reset the evaluation with seeds far from those of the training",
                    confidence=0.8,
                )
                return


def _seeds(given: object, lanes: int) -> set[int]:
    """A vector of environments that is given one seed gives each of its parts the next one."""
    assert isinstance(given, (list, tuple))
    return {each + lane for each in given if isinstance(each, int) for lane in range(lanes)}
