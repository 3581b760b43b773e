"""The entropy the loop computes is not an entropy."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from rldebug.evidence.run import Run, Series
from rldebug.finding import Finding, Severity
from rldebug.rule import NotEnough, Rule

_BITS = 1.0 / math.log(2.0)


@dataclass(frozen=True, kw_only=True)
class EntropyOutOfRange(Rule):
    """The entropy the loop computes cannot be that of its policy.

    ## What it checks
    The entropy handed over as `entropy=` for a discrete policy. It lies between 0 and the logarithm of the number of
    actions; where the distribution is handed over too, it must be the entropy of that distribution. Named where they
    fit: the opposite sign, the logarithm to base 2, the sum over rows in place of the mean (a note: some losses want
    it).

    ## Why it matters
    The entropy bonus is tuned in nats per row. An entropy of another sign or scale makes the bonus a penalty, or makes
    its coefficient mean something else.

    ## Likely causes
    1. The sum over actions was written by hand with the wrong sign, `(p * log p).sum()`. Confirm: the value is
       negative.
    2. Logits, or probabilities that do not sum to 1, were taken for probabilities. Confirm: `p.sum(-1)` is not 1.
    3. The logarithm is to base 2. Confirm: the value is 1.4427 times `dist.entropy()`.

    ## What to try first
    Use `dist.entropy()` of `torch.distributions.Categorical(logits=...)`.

    ## When it is fine
    Several discrete actions per step, whose entropies add up; padded rows that the mean leaves out. Such whole
    multiples and smaller values are not reported.

    ## References
    Cover and Thomas, *Elements of Information Theory*, chapter 2.
    """

    code: ClassVar[str] = "ENT006"
    name: ClassVar[str] = "entropy-out-of-range"
    severity: ClassVar[Severity] = "error"
    needs: ClassVar[tuple[str, ...]] = ("policy/entropy_given",)

    tolerance: float = 0.01  # share of the maximum, for rounding and sampled entropies
    readings: int = 5  # of the entropy

    def check(self, evidence: Run) -> Iterator[Finding]:
        given = evidence["policy/entropy_given"].finite
        most = self._maximum(evidence)
        if most is None:
            raise NotEnough("the number of actions is not known, or actions are continuous")
        if len(given) < self.readings:
            raise NotEnough(f"{len(given)} readings of the entropy, needs {self.readings}")
        mean = float(np.mean(given.value))
        error = float(np.std(given.value)) / math.sqrt(len(given))
        times = self._against(evidence, given, per_row=False)
        where = replace(
            evidence.call("update"), update=int(given.update[0]), env_step=int(given.env_step[0]), tensor="entropy"
        )
        if mean < -self.tolerance * most and mean < -4 * error:
            yield self.finding(
                "the entropy handed over is negative",
                where=where,
                seen=f"mean {mean:.4f} nats over {len(given)} updates"
                + (", the opposite of the distribution's entropy in each of them" if _is(times, -1.0) else ""),
                expected=f"between 0 and log(actions) = {most:.4f}",
                help="entropy is −Σ p log p, with p = softmax(logits); use dist.entropy()",
                confidence=0.97,
            )
        elif _is(times, _BITS):
            yield self.finding(
                "the entropy handed over is in bits",
                where=where,
                seen=f"{np.median(times):.4f} times the distribution's entropy in each of {len(times)} updates",
                expected=f"1 times it: natural logarithms, at most log(actions) = {most:.4f}",
                help="take the natural logarithm, torch.log instead of torch.log2, or use dist.entropy()",
                confidence=0.98,
            )
        elif mean > (1.0 + self.tolerance) * most + 4 * error:
            rows = evidence["batch/rows"].median()
            summed = _is(self._against(evidence, given, per_row=True), 1.0) or (
                not len(times) and 1.5 * most < mean <= (1.0 + self.tolerance) * rows * most
            )
            if not summed and len(times) and _is(times, round(float(np.median(times)))):
                return  # several actions per row, whose entropies add up
            sure = not summed and any((env.get("actions") or 0) > 1 for _, env in evidence.facts("env"))
            yield self.finding(
                "the entropy handed over is summed over rows"
                if summed
                else "the entropy handed over exceeds its maximum",
                where=where,
                seen=f"mean {mean:.4f} nats over {len(given)} updates"
                + (f" of {rows:.0f} rows" if math.isfinite(rows) else ""),
                expected=f"at most log(actions) = {most:.4f}",
                help="average over rows, or scale the coefficient with the batch size"
                if summed
                else "compute it from normalised probabilities, p = softmax(logits), or use dist.entropy()",
                confidence=0.97 if sure else 0.6,
                severity=None if sure else "note",
            )

    def _maximum(self, run: Run) -> float | None:
        known = run["policy/entropy_max"].finite
        if len(known):
            return known.max() if known.max() > 0 else None
        if "policy/entropy_rel" in run:
            return None  # the distribution is known and is not discrete
        for _, env in run.facts("env"):
            if (env.get("actions") or 0) > 1:
                return math.log(env["actions"])
        return None

    def _against(self, run: Run, given: Series, per_row: bool) -> NDArray[np.float64]:
        """The entropy handed over as a multiple of the distribution's, or of that times the rows; empty if unknown."""
        if "policy/entropy_max" not in run:
            return np.empty(0)
        true = {at: each for at, each in zip(*_columns(run["policy/entropy"].finite), strict=True) if each > 1e-3}
        rows = dict(zip(*_columns(run["batch/rows"].finite), strict=True)) if per_row else {}
        ratios = [
            value / (true[at] * rows.get(at, 1.0)) for at, value in zip(*_columns(given), strict=True) if at in true
        ]
        return np.array(ratios if len(ratios) >= self.readings else [])


def _columns(series: Series) -> tuple[list[int], list[float]]:
    return series.update.tolist(), series.value.tolist()


def _is(ratios: NDArray[np.float64], factor: float) -> bool:
    """Whether the ratio is this one in all updates."""
    return len(ratios) > 0 and bool(np.all(np.abs(ratios - factor) < 1e-3 * abs(factor)))
