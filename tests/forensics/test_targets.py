"""Targets made by known formulas: what is said of them is what was done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.forensics.simulated import Array, Rollout, gae, joined, returns, rollout, several, steps
from tests.programs.formulas import on_policy, q_target, replay

from rldebug.evidence.script import Audit, Script
from rldebug.forensics.target_ends import endings
from rldebug.forensics.target_models import formula_of, right_formula_of
from rldebug.forensics.target_rows import Steps
from rldebug.forensics.target_scaled import rescaled
from rldebug.forensics.targets import discount, fit_targets, fit_weights, orders, trace_decay, unit_advantages


@pytest.mark.parametrize(("gamma", "lam"), [(0.99, 0.95), (0.9, 1.0), (0.95, 0.0), (1.0, 0.9)])
@pytest.mark.parametrize("kind", [{}, {"sparse": True}, {"constant": True}, {"times": 6, "lanes": 8, "audits": 5}])
def test_discount_and_trace_of_gae_are_read_off(gamma: float, lam: float, kind: dict[str, bool]) -> None:
    script = on_policy(lambda of: gae(of, gamma, lam), **kind)  # type: ignore[arg-type]
    assert discount(script) == pytest.approx(gamma, abs=1e-3)
    assert trace_decay(script) == pytest.approx(lam, abs=5e-3)
    (fit,) = fit_targets(script)
    assert not fit.mistake
    assert all(each.right for each in fit.endings)


def test_returns_are_monte_carlo() -> None:
    (fit,) = fit_targets(on_policy(None, returns))
    assert (fit.what, fit.name) == ("weight", "monte-carlo")
    assert fit.gamma == pytest.approx(0.95, abs=1e-4)


def test_normalised_returns_are_found_batch_by_batch() -> None:
    def normalised(of: Rollout) -> Array:
        made = returns(of)
        return np.asarray((made - made.mean()) / made.std())

    (fit,) = fit_targets(on_policy(None, normalised))
    assert fit.name == "monte-carlo"
    assert fit.gamma == pytest.approx(0.95, abs=1e-4)
    assert fit.reward > 0


def test_noise_has_no_formula() -> None:
    draw = np.random.default_rng(3)
    assert fit_targets(on_policy(lambda of: draw.normal(size=of.reward.shape), lambda of: of.value[:-1])) == ()


def test_half_noise_has_no_formula_either() -> None:
    draw = np.random.default_rng(3)
    assert fit_targets(on_policy(lambda of: gae(of) + (draw.random(of.reward.shape) < 0.3))) == ()


def test_one_stretch_is_not_enough() -> None:
    assert fit_targets(on_policy(gae, audits=1)) == ()


def test_scaled_rewards_are_no_mistake() -> None:
    (fit,) = fit_targets(on_policy(lambda of: gae(replace(of, reward=0.1 * of.reward))))
    assert fit.reward == pytest.approx(0.1, abs=1e-3)
    assert not fit.mistake


def test_clipped_rewards_are_no_mistake() -> None:
    script = on_policy(lambda of: gae(replace(of, reward=np.clip(of.reward, -1, 1))))
    (fit,) = fit_targets(script)
    assert fit.changed == "clip"
    assert not fit.mistake


def test_advantages_may_be_normalised() -> None:
    def advantage(of: Rollout) -> Array:
        made = gae(of) - of.value[:-1]
        return np.asarray((made - made.mean()) / made.std())

    (weights,) = fit_weights(on_policy(gae, advantage))
    assert weights.of == "advantage"
    assert weights.slope > 0


def test_weights_that_are_something_else_are_not_named() -> None:
    assert fit_weights(on_policy(gae, lambda of: np.sin(5 * of.value[:-1] + of.reward))) == ()


@pytest.mark.parametrize("lanes_first", [False, True])
def test_targets_of_other_rows_are_put_in_order(lanes_first: bool) -> None:
    def turned(of: Rollout) -> Array:
        made = gae(of)
        return made.T.reshape(made.shape) if lanes_first else made[::-1]

    (fit,) = fit_targets(on_policy(turned))
    assert fit.order == ("transposed" if lanes_first else "reversed")


def test_another_order_is_found_where_some_rows_are_missing() -> None:
    """Observations that look alike are in no table."""
    table = several(lambda of: gae(of).T.reshape(of.reward.shape), drop=0.15)
    found = [(name, formula) for name, moved in orders(table) if (formula := right_formula_of(moved)) is not None]
    assert [name for name, _ in found] == ["transposed"]
    assert found[0][1].gamma == pytest.approx(0.97, abs=1e-4)


def test_q_targets() -> None:
    (fit,) = fit_targets(replay(q_target))
    assert fit.name.startswith("max")
    assert fit.gamma == pytest.approx(0.97, abs=1e-4)
    assert not fit.mistake
    assert all(each.right for each in fit.endings)
    assert fit.rightly("terminated")


def test_double_q_and_any_allowed_action() -> None:
    def double(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        best = said["q1"].argmax(axis=1)
        return np.asarray(
            of.reward[picked, 0] + 0.9 * ~of.terminated[picked, 0] * said["q0"][np.arange(len(picked)), best]
        )

    def third(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        allowed = said["q0"].copy()
        allowed[np.arange(len(picked)), picked % 3] = -np.inf
        return np.asarray(of.reward[picked, 0] + 0.9 * ~of.terminated[picked, 0] * allowed.max(axis=1))

    (fit,) = fit_targets(replay(double, critics=2))
    assert fit.name == "double q0 by q1"
    assert not fit.mistake
    (fit,) = fit_targets(replay(third))
    assert fit.name == "an action of q0"
    assert fit.gamma == pytest.approx(0.9, abs=1e-3)


def test_the_smaller_of_two_and_a_soft_target() -> None:
    def soft(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        following = np.minimum(said["q0"], said["q1"])[:, 0] - 0.2 * said["logp"]
        return np.asarray(of.reward[picked, 0] + 0.98 * (1.0 - of.terminated[picked, 0]) * following)

    (fit,) = fit_targets(replay(soft, critics=2, actions=1))
    assert fit.name == "min q0 q1"
    assert not fit.mistake
    assert fit.entropy == pytest.approx(-0.2 * 0.98, abs=1e-3)


def test_it_is_quick() -> None:
    script = on_policy(lambda of: np.sin(of.value[:-1]), lambda of: np.cos(of.value[:-1]), times=256, lanes=8, audits=6)
    start = time.process_time()
    fit_targets(script)
    assert time.process_time() - start < 2.0


def test_a_running_scale_of_the_reward_is_taken_out() -> None:
    def drifting(of: Rollout, **how: Any) -> Array:
        scale = 0.5 + np.cumsum(np.abs(np.random.default_rng(1).normal(size=len(of.reward)))) / 5000
        return gae(replace(of, reward=of.reward * scale[:, None]), 0.97, 0.9, **how)

    (fit,) = fit_targets(on_policy(drifting, lanes=6))
    assert fit.gamma == pytest.approx(0.97, abs=1e-3)
    assert fit.lam == pytest.approx(0.9, abs=1e-2)
    assert fit.rightly("terminated")
    (fit,) = fit_targets(on_policy(lambda of: drifting(of, mask="none"), lanes=6))
    assert fit.ending("terminated", "follows") is not None


def test_a_soft_target_over_all_actions() -> None:
    def soft(of: Rollout, picked: Any, said: dict[str, Array]) -> Array:
        policy = np.exp(said["q0"]) / np.exp(said["q0"]).sum(axis=1, keepdims=True)
        following = (policy * (np.minimum(said["q1"], said["q2"]) - 0.2 * np.log(policy))).sum(axis=1)
        return np.asarray(of.reward[picked, 0] + 0.95 * (1.0 - of.terminated[picked, 0]) * following)

    (fit,) = fit_targets(replay(soft, critics=3))
    assert fit.name == "min q1 q2 over q0"
    assert not fit.mistake
    assert fit.entropy == pytest.approx(-0.2 * 0.95, abs=1e-3)


def test_rewards_that_the_program_shifts_alike_in_many_short_batches():
    def make(of: Rollout) -> Array:
        return returns(replace(of, reward=of.reward - 0.3))

    table = several(make, count=8, values=False, times=14, lanes=1, constant=True)
    formula = formula_of(table)
    assert formula is not None
    assert formula.gamma == pytest.approx(0.95, abs=1e-4)


def test_the_value_of_a_reset_is_known_where_that_of_the_last_observation_was_never_asked() -> None:
    def ends(make: Any) -> list[tuple[str, bool]]:
        table = several(make, count=3, times=64, lanes=6)
        table = replace(table, value_next=np.where(table.truncated, np.nan, table.value_next))
        formula = formula_of(table)
        assert formula is not None
        return [(each.way, each.right) for each in endings(table, formula) if each.kind == "truncated"]

    assert ends(lambda of: gae(replace(of, truncated=of.truncated & False), 0.97, 0.0)) == [("follows", False)]
    assert ends(lambda of: gae(of, 0.97, 0.0, truncation="zero")) == [("zero", False)]


def test_ends_that_come_late_are_looked_at_too() -> None:
    def before_any_end(audit: Audit) -> Audit:
        (term,) = audit.terms("regression")
        keep = ~audit.nodes.column("terminated", term.arrays["rows"])
        events = (
            replace(each, arrays={name: rows[keep] for name, rows in each.arrays.items()}) for each in audit.events
        )
        return replace(audit, events=tuple(events))

    audits = replay(q_target, audits=60).audits
    (fit,) = fit_targets(Script([*map(before_any_end, audits[:45]), *audits[45:]]))
    assert fit.rightly("terminated")


@pytest.mark.parametrize(("bootstrap", "way"), [("own", "own"), ("zero", "zero"), ("next", "")])
def test_three_rollouts_with_one_last_step_each_are_enough(bootstrap: str, way: str) -> None:
    steps = several(lambda of: gae(of, bootstrap=bootstrap), lanes=1, times=96)
    assert steps.end.sum() == 3
    formula = formula_of(steps)
    assert formula is not None
    found = [each for each in endings(steps, formula) if each.kind == "rollout"]
    assert [(each.way, each.right) for each in found] == ([(way, False)] if way else [])


def _left_out(target: Callable[[Rollout], Array], rollouts: int = 7) -> Steps:
    """Of rollouts with rewards all alike, of which every tenth step is not learned from."""
    made = [rollout(number, 128, 8, constant=True) for number in range(rollouts)]
    return joined([steps(of, target(of), number, drop=0.1) for number, of in enumerate(made)])


def test_normalised_advantages_are_found_where_a_part_of_the_steps_is_left_out() -> None:
    def normalised(of: Rollout) -> Array:
        advantage = gae(of) - of.value[:-1]
        return np.asarray((advantage - advantage.mean()) / advantage.std() + of.value[:-1])

    assert unit_advantages(_left_out(normalised))
    assert not unit_advantages(_left_out(gae))
    assert not unit_advantages(_left_out(normalised, 2))


def test_targets_that_are_normalised_themselves_are_another_matter() -> None:
    def standardised(of: Rollout) -> Array:
        of.value[:] = 0.0
        target = gae(of)
        return np.asarray((target - target.mean()) / target.std())

    assert not unit_advantages(_left_out(standardised))


def settling(of: Rollout) -> Rollout:
    """Rewards that are divided by a deviation that is still settling, alike in all lanes."""
    factor = 1.0 / (1.0 + 2.0 / np.arange(1.0, 1.0 + len(of.reward)))
    return replace(of, reward=of.reward * factor[:, None])


@pytest.mark.parametrize(("bootstrap", "right"), [("own", False), ("zero", False), ("next", True)])
def test_the_last_step_is_told_where_rewards_are_scaled_by_what_settles(bootstrap: str, right: bool) -> None:
    table = rescaled(several(lambda of: gae(settling(of), bootstrap=bootstrap), count=4))
    assert table is not None
    formula = right_formula_of(table)
    assert formula is not None
    assert formula.share > 0.99
    (found,) = [each for each in endings(table, formula) if each.kind == "rollout"]
    assert found.right == right
    assert found.hit == found.rows


def test_nothing_is_guessed_where_the_factor_moves_fast() -> None:
    table = rescaled(several(lambda of: gae(settling(of)), count=4, times=12))
    assert table is not None
    assert not np.isfinite(table.reward[table.end]).any()


def test_returns_that_are_cut_off_are_told_where_the_episode_goes_on() -> None:
    table = several(returns, count=4, times=16)
    table = replace(table, value_after=np.where(table.end, np.nan, table.value_after))
    table = replace(table, value_next=np.where(table.end, np.nan, table.value_next))
    formula = formula_of(table)
    assert formula is not None
    assert formula.name == "monte-carlo"
    assert not [each for each in endings(table, formula) if each.kind == "rollout"]
    (found,) = [each for each in endings(table, formula, played_on=True) if each.kind == "rollout"]
    assert (found.way, found.right) == ("zero", False)
