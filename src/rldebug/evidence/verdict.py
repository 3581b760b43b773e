"""How a user's value differs from the reference's, in words, and what usually follows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from rldebug.evidence.given import is_number
from rldebug.finding import thousands

# Concepts where 0 or None means that the thing is not done at all.
_SWITCHES = re.compile("(entropy|value)_coef|max_(grad_norm|kl)|clip_value|weight_decay|tau|learning_starts")


def verdict(concept: str, yours: Any, ours: Any) -> str:
    """How they differ, and what follows: `horizon 10 steps, not 100: rewards further off hardly count`; or `same`."""
    if same(yours, ours):
        return "same"
    size = _size(concept, yours, ours)
    follows = next((text for test, text in _CONSEQUENCES.get(concept, ()) if _holds(test, yours, ours)), "")
    return f"{size}: {follows}" if follows else size


def same(yours: Any, ours: Any) -> bool:
    if is_number(yours) and is_number(ours):
        return math.isclose(yours, ours, rel_tol=1e-6)
    if isinstance(ours, list | tuple) and is_number(yours):  # a width that stands for all layers
        return bool(ours) and all(same(yours, each) for each in ours)
    if isinstance(ours, list | tuple) and isinstance(yours, list | tuple):
        return len(yours) == len(ours) and all(map(same, yours, ours))
    if isinstance(yours, str) and isinstance(ours, str):
        return yours.lower() == ours.lower()
    return type(yours) is type(ours) and bool(yours == ours)


def comparable(concept: str, yours: Any, ours: Any) -> bool:
    """A switch is not compared with a number, nor a number with a word."""
    if yours is None or ours is None:
        return yours is ours or _SWITCHES.fullmatch(concept) is not None
    kinds = {kind(yours), kind(ours)}
    return len(kinds) == 1 or (concept == "hidden" and kinds == {"a number", "a list"})


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "on or off"
    return "a number" if is_number(value) else "a list" if isinstance(value, list | tuple) else "a word"


def _size(concept: str, yours: Any, ours: Any) -> str:
    switch = isinstance(yours, bool) or _SWITCHES.fullmatch(concept)
    if switch and not yours:
        return "off here"
    if isinstance(yours, bool):
        return "on here"
    if switch and not ours:
        return "on here, off in the reference"
    if not (is_number(yours) and is_number(ours)):
        return "differs"
    if concept == "discount" and 0 <= yours < 1 and 0 <= ours < 1:
        return f"horizon {_reach(yours)} steps, not {_reach(ours)}"
    if concept == "lam" and yours in (0, 1):
        return f"λ = {yours:g}"
    if concept == "lam" and 0 < yours < 1 and 0 < ours < 1:
        return f"weighs {_reach(yours)} steps, not {_reach(ours)}"
    direction = "higher" if yours > ours else "lower"
    return f"{_amount(yours / ours)} {direction}" if yours > 0 and ours > 0 else direction


def _reach(share: float) -> str:
    """How many steps a sum reaches whose terms shrink by this share."""
    return thousands(round(1 / (1 - share)))


def _amount(ratio: float) -> str:
    """2.5×, 250×, 1e+05×, 20 %."""
    factor = max(ratio, 1 / ratio)
    if factor < 2:
        return f"{100 * abs(ratio - 1.0):.2g} %"
    return f"{factor:.2g}×" if factor < 99.5 else f"{factor:.0f}×" if factor < 1e4 else f"{factor:.0e}×"


def _holds(test: Callable[[Any, Any], bool], yours: Any, ours: Any) -> bool:
    try:
        return test(yours, ours)
    except TypeError:  # None beside a number
        return False


# By concept; the first that holds is said.
_CONSEQUENCES: dict[str, tuple[tuple[Callable[[Any, Any], bool], str], ...]] = {
    "discount": (
        (lambda yours, ours: yours > 1, "above 1: later rewards count more than earlier ones, and values explode"),
        (lambda yours, ours: yours == 1, "no discount: values of long episodes grow without bound"),
        (lambda yours, ours: 1 - yours >= 5 * (1 - ours), "rewards further off hardly count"),
        (lambda yours, ours: 1 - ours >= 5 * (1 - yours), "values are larger, and slower to learn"),
    ),
    "lam": (
        (lambda yours, ours: yours == 1, "sampled returns alone, the critic only as baseline; noisy"),
        (lambda yours, ours: yours == 0, "trusts the critic alone; biased while it is wrong"),
    ),
    **{
        rate: (
            (lambda yours, ours: yours >= 10 * ours, "steps this large often destroy a policy"),
            (lambda yours, ours: yours <= ours / 10, "learns slowly"),
        )
        for rate in ("lr", "policy_lr", "value_lr", "alpha_lr")
    },
    "clip": (
        (lambda yours, ours: yours <= 0, "the policy can hardly move"),
        (lambda yours, ours: yours >= 0.5, "hardly clips; the policy may jump"),
    ),
    "epochs": (
        (lambda yours, ours: yours == 1, "every sample is used once; clipping hardly acts"),
        (lambda yours, ours: yours >= 3 * ours, "the policy moves far from the one that acted; watch the KL"),
    ),
    "minibatch": ((lambda yours, ours: yours <= ours / 8, "noisy gradients"),),
    "batch": ((lambda yours, ours: yours <= ours / 8, "noisy gradients"),),
    "entropy_coef": (
        (lambda yours, ours: not yours, "nothing keeps the policy from settling early"),
        (lambda yours, ours: yours >= 0.1, "may keep the policy random"),
    ),
    "value_coef": ((lambda yours, ours: not yours, "the critic is not trained by this loss"),),
    "max_grad_norm": (
        (lambda yours, ours: not yours, "one bad batch can take a huge step"),
        (lambda yours, ours: yours >= 10 * ours, "hardly ever shortens a gradient"),
    ),
    "normalise_advantage": ((lambda yours, ours: not yours, "step sizes then depend on the scale of rewards"),),
    "max_kl": ((lambda yours, ours: yours >= 5 * ours, "steps leave the region where the estimate holds"),),
    "cg_iters": ((lambda yours, ours: yours < 5, "the direction is far from the natural gradient"),),
    "damping": ((lambda yours, ours: yours >= 10 * ours, "drowns the curvature: nearly a plain gradient"),),
    "buffer": ((lambda yours, ours: yours <= ours / 10, "forgets soon, and samples are alike"),),
    "target_every": (
        (lambda yours, ours: yours == 1, "without averaging, as good as no target network"),
        (lambda yours, ours: True, "mind the unit (env steps, updates, episodes)"),
    ),
    "tau": (
        (lambda yours, ours: yours >= 1, "copied outright: no target network if done at every update"),
        (lambda yours, ours: yours >= 10 * ours, "targets follow the network closely"),
        (lambda yours, ours: yours == 0, "targets never move"),
    ),
    "epsilon_start": ((lambda yours, ours: yours < 0.5, "explores little from the start"),),
    "epsilon_end": (
        (lambda yours, ours: yours == 0, "exploration stops altogether"),
        (lambda yours, ours: yours >= 0.2, "stays that random to the end"),
    ),
    "learning_starts": ((lambda yours, ours: not yours, "first updates see a handful of like samples"),),
    "double": ((lambda yours, ours: not yours, "values are overestimated"),),
    "alpha": ((lambda yours, ours: yours == 0, "no entropy bonus: exploration dies out"),),
}
