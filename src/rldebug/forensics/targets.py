"""Targets: by which formula the numbers were made that a program regresses on, and weights its log-probs with.

`fit_targets` looks at all audits together. It says γ and λ as they were really used, and where the formula is not the
one it should be. Rules only put that into words. What is not sure is None, and nothing is built on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from rldebug.evidence.script import Event, Script
from rldebug.finding import Where
from rldebug.forensics.asked_at_limits import asked_at_limits
from rldebug.forensics.episode_returns import Episodic, episodic
from rldebug.forensics.robust_fit import Array
from rldebug.forensics.roles import roles_of
from rldebug.forensics.target_ends import Ending, endings
from rldebug.forensics.target_formula import QFormula
from rldebug.forensics.target_models import Formula, formula_of, right_formula_of, scaled_formula_of
from rldebug.forensics.target_orders import orders
from rldebug.forensics.target_q import q_formulas
from rldebug.forensics.target_rows import Flags, Group, Site, Steps, groups, sited, where_of
from rldebug.forensics.target_scaled import rescaled
from rldebug.forensics.target_vtrace import VTrace, vtraces
from rldebug.forensics.target_weights import Weights, weights_of
from rldebug.forensics.weight_recursion import Recursion, recursion
from rldebug.forensics.worlds import training_streams

_ALL = 0.998  # share of rows that leaves nothing to explain
ONE_FLAG = ("4-tuple", "3-tuple", "2-tuple")  # of what step() gives: terminated and truncated in one
_MOVED = 0.8  # share of rows that a formula explains in another order: rows that look alike are hardly told in the old
_LIMITED = 0.3  # share of episodes that have the greatest length
_MANY = 5  # audits, for rollouts of which some steps are left out
_LEFT_OUT = 0.2  # share of those steps, at most
_KNOWN = 0.5  # share of rows with a value, for values to count as known


@dataclass(frozen=True)
class Fit:
    """One kind of target of the program."""

    what: str  # "value": the critic's target; "q": the target of chosen actions; "weight": of log-probs
    name: str  # monte-carlo, td, gae, reward, max of …, double …, or the name of the mistake
    gamma: float | None
    lam: float | None
    reward: float = 1.0  # coefficient of the reward
    changed: str = ""  # clip, sign
    mistake: str = ""  # within episodes; where there is one, nothing is said of their ends
    order: str = ""  # rows of the target are in another order: transposed, reversed
    stored: str = ""  # what became of the reward
    entropy: float | None = None  # coefficient of the next log-prob
    endings: tuple[Ending, ...] = ()
    share: float = 0.0  # of the rows within episodes that it explains
    rows: int = 0
    audits: int = 0
    values: bool = False  # the values that it bootstraps from were seen
    n: int = 1  # steps of the target of Q
    power: float | None = None  # what the bootstrap is multiplied with, where there are several
    coefs: tuple[float | None, ...] = ()  # and the rewards
    crossed: tuple[int, int] = (0, 0)  # windows of several steps that run over an end, of those that could
    pushes: str = ""  # "own": log-probs are weighed by what leads to the target of the step itself
    traced: bool = True  # rows are known steps of the environment
    residual: float | None = None  # of those rows, relative to the spread of the targets
    runner_up: tuple[str, float] | None = None  # what explains most of them otherwise, and which share
    site: Site = ()
    where: Where = field(default_factory=Where)

    def ending(self, kind: str, *ways: str) -> Ending | None:
        """How rows of this kind were treated, if in one of these wrong ways."""
        return next((each for each in self.endings if each.kind == kind and not each.right and each.way in ways), None)

    def rightly(self, kind: str) -> bool:
        return any(each.kind == kind and each.right for each in self.endings)


@lru_cache(maxsize=8)
def fit_targets(script: Script) -> tuple[Fit, ...]:
    """Of each regression and each policy loss whose formula was found."""
    fits = _all(script)[0]
    return tuple(map(_with_sure_ends, fits)) if limit_untold(script) else fits


def _with_sure_ends(fit: Fit) -> Fit:
    """A sum that runs on into the next episode is wrong, whatever the end was."""
    over = ("follows", "leak", "carried", "twice") if fit.name in ("monte-carlo", "gae") else ()
    sure = tuple(
        each for each in fit.endings if each.right or each.kind not in ("terminated", "eve") or each.way in over
    )
    return replace(fit, endings=sure)


def limit_untold(script: Script) -> bool:
    """Whether the environment says only that an episode is over, and its end is mostly a time limit.

    The info may tell the program which it is, in words of its own; a step that is bootstrapped may well be right then.
    """
    stream = roles_of(script).stream
    own = [each for each in script.streams if int(each["index"]) == stream]
    alike = [each for each in script.streams if own and each.get("name") == own[0].get("name")]
    if not own or (own[0].get("facts") or {}).get("api") not in ONE_FLAG:
        return False
    lengths = [int(length) for each in alike for length in each.get("lengths") or ()]
    return bool(lengths) and lengths.count(max(lengths)) >= max(3, _LIMITED * len(lengths))


def never_given_up(script: Script) -> bool:
    """Whether the environments that are trained in are reset once, and where an episode ended."""
    streams = training_streams(script)
    for each in streams:
        ends = int(each.get("episodes") or 0) if each.get("autoreset") == "disabled" and each.get("lanes") == 1 else 0
        if int(each.get("resets") or 0) > ends + 1:
            return False
    return bool(streams)


@lru_cache(maxsize=8)
def fit_weights(script: Script) -> tuple[Weights, ...]:
    """How the weights of log-probs stand to the advantages of the critic's targets."""
    return _all(script)[1]


@lru_cache(maxsize=8)
def _all(script: Script) -> tuple[tuple[Fit, ...], tuple[Weights, ...]]:
    critics = groups(script, "regression", "target")
    fits = [each for group in critics for each in _of_group(script, group, "value")]
    # Steps that were hardly off the policy follow simpler formulas too, but not all of them.
    seen = {group.site: len(np.unique(group.steps.audit)) for group in critics}
    traces = vtraces(script, {fit.site for fit in fits if fit.share > _ALL and fit.audits >= 0.8 * seen[fit.site]})
    explained = {fit.site: fit.share * fit.rows for fit in fits}
    traces = [each for each in traces if each.share * each.rows > explained.get(each.site, 0.0)]
    fits = [fit for fit in fits if fit.site not in {each.site for each in traces}] + list(map(_of_trace, traces))
    fits += [_of_q(each) for each in q_formulas(script, {fit.site for fit in fits})]
    gammas = {each.gamma for each in fits if each.gamma is not None}
    weights = weights_of(script, critics, gammas.pop() if len(gammas) == 1 else None)
    told = ("advantage", "td-error", "per-lane", "unordered", "before", "after", "reward")
    weighed = {each.site for each in weights if each.of in told}
    for group in groups(script, "policy", "weight"):
        if group.site not in weighed:
            found = list(_of_group(script, group, "weight"))
            again = None if found else recursion(group.steps)
            fits += found if again is None else [_of_recursion(group, again)]
            if not found and again is None:
                weights += _downhill(group)
    return tuple(fits), tuple(weights)


def only_critic(script: Script, fit: Fit) -> bool:
    """It is the only regression of the program, beside a policy: no model of rewards, no second term."""
    sites = {site for audit in script.audits for site, _ in sited(audit, "regression")}
    return sites == {fit.site} and any(True for audit in script.audits for _ in sited(audit, "policy"))


def discount(script: Script) -> float | None:
    """γ as it was used, where all targets agree on one."""
    found = [each.gamma for each in fit_targets(script) if each.gamma is not None and each.audits >= 2]
    return round(found[0], 5) if found and max(found) - min(found) < 2e-3 else None


def trace_decay(script: Script) -> float | None:
    """λ as it was used."""
    found = [each.lam for each in fit_targets(script) if each.lam is not None and each.what == "value"]
    return round(found[0], 4) if found and max(found) - min(found) < 2e-3 else None


def _of_group(script: Script, group: Group, what: str) -> Iterator[Fit]:
    steps, order = group.steps, ""
    formula = formula_of(steps, critic=what == "value")
    if formula is None and what == "value":
        again = rescaled(steps)
        formula = right_formula_of(again) if again is not None else None
        steps = again if again is not None and formula is not None else steps
    if formula is None and what == "value" and unit_advantages(steps):
        audits = len(np.unique(steps.audit))
        formula = Formula("normalised", mistake=True, share=1.0, rows=len(steps), audits=audits)
    if formula is not None and formula.name == "own-value" and any(_held_back(each) for each in group.terms):
        return
    if formula is None and (found := episodic(group.steps)) is not None:
        yield _of_episodes(group, found, what)
        return
    if formula is None:
        for name, moved in orders(steps):
            formula = right_formula_of(moved, _MOVED) or scaled_formula_of(moved, _MOVED)
            again = rescaled(moved) if formula is None and what == "value" else None
            if again is not None:
                formula, moved = right_formula_of(again, _MOVED), again
            if formula is not None and formula.name != "reward":
                steps, order = moved, name
                break
        else:
            return
    assert formula is not None
    yield _fit(script, group, formula, steps, order, what)


def _held_back(term: Event) -> bool:
    """The prediction is kept near its old value, which is then part of the term."""
    return bool(term.get("clip") or term.get("nested"))


def _endings(script: Script, steps: Steps, formula: Formula) -> tuple[Ending, ...]:
    found = endings(steps, formula, played_on=never_given_up(script))
    if not formula.simple or any(each.kind == "truncated" for each in found):
        return found
    asked = asked_at_limits(script, steps, formula)
    return found if asked is None else (*found, asked)


def _fit(script: Script, group: Group, formula: Formula, steps: Steps, order: str, what: str) -> Fit:
    return Fit(
        what=what,
        name=formula.name,
        gamma=formula.gamma,
        lam=formula.lam,
        reward=formula.reward,
        changed=formula.changed,
        mistake=formula.name if formula.mistake else "",
        order=order,
        endings=_endings(script, steps, formula) if formula.share > _MOVED + 0.1 else (),
        share=formula.share,
        rows=formula.rows,
        audits=int(formula.audits),
        values=bool(np.isfinite(steps.value).mean() > _KNOWN),
        residual=formula.residual,
        runner_up=formula.runner_up,
        site=group.site,
        where=where_of(group.terms),
    )


def _of_episodes(group: Group, found: Episodic, what: str) -> Fit:
    """Returns of whole episodes, that were normalised afterwards."""
    leak = Ending("terminated", "follows", False, found.ends, found.ends, found.audits, found.ends / found.rows)
    return Fit(
        what=what,
        name="monte-carlo",
        gamma=found.gamma,
        lam=1.0,
        mistake="forwards" if found.name == "forwards" else "",
        order="reversed" if found.name == "reversed" else "",
        endings=(leak,) if found.name == "leak" else (),
        share=1.0,
        rows=found.rows,
        audits=found.audits,
        site=group.site,
        where=where_of(group.terms),
    )


def _of_recursion(group: Group, found: Recursion) -> Fit:
    """Advantages that were made apart from the targets."""
    right = {"terminated": "zero", "truncated": "final"}
    return Fit(
        what="weight",
        name="gae",
        gamma=found.gamma,
        lam=found.carried / found.gamma,
        mistake="values-swapped" if found.swapped else "forwards-gae" if found.forwards else "",
        endings=tuple(
            Ending(each.kind, each.way, each.way == right[each.kind], each.rows, each.hit, each.audits, each.share)
            for each in found.ways
        ),
        share=found.share,
        rows=found.rows,
        audits=found.audits,
        values=True,
        site=group.site,
        where=where_of(group.terms),
    )


def _downhill(group: Group) -> list[Weights]:
    """Advantages that were made apart from the targets, and whose sign was lost."""
    found = recursion(replace(group.steps, target=-group.steps.target))
    if found is None or found.swapped or found.forwards:
        return []
    where, terms = where_of(group.terms), len(group.terms)
    return [Weights("advantage", -1.0, found.share, found.rows, found.audits, terms, site=group.site, where=where)]


def _of_trace(found: VTrace) -> Fit:
    """Targets of steps that an older policy took."""
    return Fit(
        what="value",
        name="v-trace",
        gamma=found.gamma,
        lam=found.lam,
        mistake=found.mistake,
        endings=found.endings,
        share=found.share,
        rows=found.rows,
        audits=found.audits,
        values=True,
        pushes=found.pushes,
        site=found.site,
        where=where_of(found.terms),
    )


def _of_q(formula: QFormula) -> Fit:
    return Fit(
        what="q",
        name=formula.name,
        gamma=formula.gamma,
        lam=None,
        reward=formula.reward,
        changed=formula.changed,
        mistake=formula.mistake,
        stored=formula.stored,
        entropy=formula.entropy,
        endings=formula.endings,
        share=formula.share,
        rows=formula.rows,
        audits=formula.audits,
        values=True,
        n=formula.n,
        power=formula.power,
        coefs=formula.coefs,
        crossed=formula.crossed,
        traced=formula.traced,
        site=formula.site,
        where=formula.where,
    )


def unit_advantages(steps: Steps) -> bool:
    """Target - value has mean 0 and deviation 1 in every rollout: it was normalised before targets were made."""
    errors = steps.target - steps.value
    batches, told = np.unique(steps.batch), set[int]()
    many = len(np.unique(steps.audit)) > _MANY
    for each in batches:
        rows = steps.batch == each
        known = rows & np.isfinite(errors)
        if known.sum() < 64:
            return False
        # The few rows whose value is not known are missing in the mean too.
        slack = 2.0 * min(1.0 - float(known.sum() / rows.sum()), 0.02)
        slack = max(slack, _left_out(steps, rows, int(known.sum()))) if many else slack
        if not _unit(errors[known], 0.01 + slack):
            return False
        # Where the targets themselves are normalised, and values are still near zero, errors are so too.
        if not _unit(steps.target[known], 0.05 + slack):
            told.add(int(steps.audit[rows][0]))
        elif not many:
            return False
    return len(told) >= (_MANY if many else 3)


def _left_out(steps: Steps, rows: Flags, known: int) -> float:
    """How far mean and deviation may be off where some steps of a rollout were normalised too, and not learned from:
    three standard errors."""
    whole = len(np.unique(steps.lane[rows])) * (int(steps.time[rows].max()) + 1)
    missing = whole - known
    return 3.0 * float(np.sqrt(missing)) / whole if 0 < missing <= _LEFT_OUT * whole else 0.0


def _unit(numbers: Array, off: float) -> bool:
    return abs(float(numbers.mean())) < off and abs(float(numbers.std()) - 1.0) < off


__all__ = ["Fit", "Weights", "discount", "fit_targets", "fit_weights", "only_critic", "trace_decay"]
