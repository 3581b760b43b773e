"""The climb: train the target on one probe after another, until each is passed, failed, or cannot be decided.

A failure is called one only when the algorithm had its chance (optimizer steps, weights that moved), has stopped
getting nearer, and other seeds agree. What is still on its way, or never had the means, is undecided, and says why.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rldebug.evidence.ladder import Attempt, Ladder, Outcome, Rung
from rldebug.parts.generators import generators_kept
from rldebug.parts.make import said
from rldebug.probes.agent import Ended, Factory, Learner, Target
from rldebug.probes.effort import Effort
from rldebug.probes.judge import Budget, Judge, matched, tolerance
from rldebug.probes.measure import CannotTell, forbidden_share, measure
from rldebug.probes.probe import Array, Probe
from rldebug.target import TargetError

FIRST, GROWTH = 200, 1.35  # environment steps before the first measurement, and how the next wait grows
PASSES, FAILS = math.log(0.95 / 0.3), math.log(0.05 / 0.7)  # what one seed says for "sound", in log odds
SURE_SOUND, SURE_BROKEN = 0.8, -6.0  # one pass, or three after a failure; three failures, or three about a pass


def stand(target: Target, kind: type[Probe], *, declared: Mapping[str, Any], action: str, budget: Budget) -> Rung:
    """One rung: as many seeds as it takes."""
    missing = [each for each in kind.wants if each not in target.abilities]
    if missing:
        return blank(kind, "not applicable", f"for algorithms with {_and(missing)}")
    if kind.range is not None and action == "discrete" and "continuous" not in target.abilities:
        return blank(kind, "not applicable", "for algorithms whose actions are numbers")
    if kind.action == "multi-discrete" and action != "discrete":
        return blank(kind, "not applicable", "for algorithms whose actions are choices")
    gamma = float(declared.get("gamma", 0.99))
    given = "continuous" if kind.range is not None else (kind.action if kind.action != "discrete" else action)
    attempts: list[Attempt] = []
    right: Array | None = None
    odds = 0.0
    while len(attempts) < budget.seeds:
        probe = kind(gamma)
        attempt_, right_ = attempt(target, probe, budget.first_seed + len(attempts), declared, given, budget)
        right = right_ if right_ is not None else right
        attempts.append(attempt_)
        odds += {"passed": PASSES, "failed": FAILS}.get(attempt_.outcome, 0.0)
        if odds >= SURE_SOUND or odds <= SURE_BROKEN or attempt_.outcome in ("crashed", "not applicable"):
            break
        if sum(each.outcome == "undecided" for each in attempts) >= 2 and odds <= 0:
            break
    outcome: Outcome = "undecided"
    if attempts[-1].outcome in ("crashed", "not applicable"):
        outcome = attempts[-1].outcome
    elif odds >= SURE_SOUND:
        outcome = "passed"
    elif odds <= SURE_BROKEN:
        outcome = "failed"
    probe = kind(gamma)
    same = [each for each in attempts if each.outcome == outcome] or attempts
    return Rung(
        name=kind.name,
        number=kind.rung,
        title=kind.summary(),
        asks=kind.asks,
        outcome=outcome,
        reason=same[-1].reason,
        looks=probe.looks,
        right=right,
        choices=probe.choices,
        attempts=tuple(attempts),
        matched=matched(probe, same, right) if outcome == "failed" else (),
        returns=probe.returns() if kind.asks == "return" else None,
    )


def attempt(
    target: Target, probe: Probe, seed: int, declared: Mapping[str, Any], action: str, budget: Budget
) -> tuple[Attempt, Array | None]:
    """One seed: learn a little, look, decide; and again, with longer and longer waits."""
    factory = Factory(probe, obs=probe.obs, action=action)
    rng = np.random.default_rng(seed)
    began = time.perf_counter()
    judge = Judge(probe, tolerance(probe, declared), budget)
    learner: Learner | None = None
    verdict: tuple[Outcome, str] | None = None
    with generators_kept(seed), Effort() as effort:
        try:
            try:
                learner = target.make(factory, seed, frozenset(probe.wants))
            except TargetError:
                raise
            except Exception as error:  # an image, a dict: not every algorithm takes all
                verdict = "not applicable", f"it could not be made for this: {said(error)}"
            if learner is not None:
                wait, since = float(FIRST), 0
                while verdict is None:
                    before = len(factory.log)
                    learner.learn(max(int(wait), 1))
                    effort.updates = effort.updates if learner.updates is None else learner.updates()
                    if len(factory.log) == before and factory.envs:
                        raise TargetError(
                            f"{target.name}: learn({int(wait)}) took no step in the environment it was given"
                        )
                    wait = max(wait, (len(factory.log) * (GROWTH - 1)))
                    judge.add(len(factory.log), measure(learner, factory, declared, rng, since))
                    if _next_phase(probe, judge):
                        since = len(factory.log)
                    else:
                        verdict = judge.decide(effort, time.perf_counter() - began)
        except TargetError:
            raise
        except Ended as end:
            verdict = judge.at_its_end(end)
            if verdict[0] == "crashed" and _unusual(probe) and not len(factory.log):
                verdict = "not applicable", "it raises there before its first step: not made for such spaces"
        except CannotTell as why:
            verdict = "not applicable", str(why)
        except FloatingPointError as error:
            verdict = "failed", str(error)
        except Exception as error:
            if judge.history or not _unusual(probe):
                verdict = "crashed", said(error)
            else:  # built without a look at the shape, and then not able to learn from it: not made for that
                verdict = "not applicable", f"it could not learn from this: {said(error)}"
        finally:
            if learner is not None:
                learner.close()
    last = judge.last
    return (
        Attempt(
            seed=seed,
            outcome=verdict[0] if verdict else "undecided",
            reason=verdict[1] if verdict else "",
            steps=len(factory.log),
            updates=effort.updates,
            lr=effort.lr,
            moved=effort.moved,
            seconds=time.perf_counter() - began,
            error=last.error if last else math.nan,
            noise=judge.noise,
            value=None if last is None else judge.settled("value"),
            policy=None if last is None else judge.settled("policy"),
            frequencies=last.frequencies if last else None,
            returns=last.returns if last else None,
            forbidden=forbidden_share(factory.log),
            envs=max(len(factory.envs), 1),
            shows=_shows(learner),
            history=tuple(judge.history),
        ),
        last.right if last else None,
    )


def _unusual(probe: Probe) -> bool:
    """Observations that are no vectors, or actions of several parts: not every algorithm is made for them."""
    return probe.obs not in ("one-hot", "offset", "noisy", "scalar") or probe.action == "multi-discrete"


def blank(kind: type[Probe], outcome: Outcome, reason: str) -> Rung:
    return Rung(kind.name, kind.rung, kind.summary(), kind.asks, outcome, reason)


def _next_phase(probe: Probe, judge: Judge) -> bool:
    """Where the problem changes in mid-run: it does so once the first one is solved. Whether it did just now."""
    if probe.phase >= probe.phases - 1 or not judge.right_now():
        return False
    probe.phase += 1
    judge.history.clear()
    judge.seen.clear()
    return True


def _shows(learner: Learner | None) -> tuple[str, ...]:
    return tuple(each for each in ("value", "q", "policy", "bonus") if getattr(learner, each, None) is not None)


def _and(words: Sequence[str]) -> str:
    return " and ".join(words)


def assemble(target: str, rungs: Sequence[Rung], declared: Mapping[str, Any], seconds: float) -> Ladder:
    """The rungs, and what the values on them tell of γ and λ."""
    from rldebug.probes.envs.aliased_fork import AliasedFork
    from rldebug.probes.envs.discount_chain import DiscountChain

    by_name = {each.name: each for each in rungs}
    gamma = lam = None
    chain, fork = by_name.get(DiscountChain.name), by_name.get(AliasedFork.name)
    if chain is not None and chain.outcome in ("passed", "failed") and (value := chain.mean("value")) is not None:
        told = DiscountChain().effective_gamma(value)
        gamma = None if math.isnan(told) else told
    if fork is not None and fork.outcome in ("passed", "failed") and (value := fork.mean("value")) is not None:
        lam = AliasedFork().trust(value, gamma or float(declared.get("gamma", 0.99)))
    return Ladder(target, tuple(sorted(rungs, key=lambda each: each.number)), dict(declared), gamma, lam, seconds)
