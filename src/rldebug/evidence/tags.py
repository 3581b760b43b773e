"""What readings are called elsewhere: one table between our names and the tags that users of CleanRL, Stable-Baselines3
and others know, for writing and for reading.

A tag is here only where it means the same quantity, up to a conversion: `train/entropy_loss` is minus the entropy,
`losses/explained_variance` is one minus `value/residual_var`. TorchRL's `train/loss_entropy` is not: it has the
coefficient in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

Convention = Literal["cleanrl", "sb3"]


def identity(value: float) -> float:
    return value


def negated(value: float) -> float:
    return -value


def one_minus(value: float) -> float:
    return 1.0 - value


@dataclass(frozen=True)
class Tag:
    """A reading of ours, and what it is called elsewhere. A reading has a second row where a convention takes another
    conversion. `others` are in order of preference, for a run that has several of them."""

    ours: str
    cleanrl: str | None = None
    sb3: str | None = None
    others: tuple[str, ...] = ()
    to_ours: Callable[[float], float] = identity
    from_ours: Callable[[float], float] = identity

    @property
    def spellings(self) -> Iterator[str]:
        """Every name that stands for it by this conversion."""
        if self.to_ours is identity:
            yield self.ours
        yield from (each for each in (self.cleanrl, self.sb3) if each is not None)
        yield from self.others


TAGS: tuple[Tag, ...] = (
    Tag(
        "episode/return_mean",
        "charts/episodic_return",
        "rollout/ep_rew_mean",
        (
            "charts/avg_episodic_return",
            "env_runners/episode_return_mean",  # RLlib
            "env_runners/episode_reward_mean",
            "training/returns_stat/mean",  # Tianshou
            "train/returns_stat/mean",
            "training/reward",
            "train/reward",  # TorchRL's examples, Tianshou before 1.0
            "train/episode_reward",
            "AverageEpRet",  # Spinning Up
            "EpRet",
            "episode_return_mean",
            "episode_reward_mean",
            "episodic_return",
            "episode_return",
            "episode_reward",
            "mean_reward",
        ),
    ),
    Tag("episode/return_std", None, "rollout/return_std", ("training/returns_stat/std", "StdEpRet")),
    Tag(
        "episode/return_min",
        None,
        None,
        ("env_runners/episode_return_min", "env_runners/episode_reward_min", "training/returns_stat/min", "MinEpRet"),
    ),
    Tag(
        "episode/return_max",
        None,
        None,
        ("env_runners/episode_return_max", "env_runners/episode_reward_max", "training/returns_stat/max", "MaxEpRet"),
    ),
    Tag(
        "episode/length_mean",
        "charts/episodic_length",
        "rollout/ep_len_mean",
        (
            "env_runners/episode_len_mean",
            "training/lens_stat/mean",
            "training/length",
            "train/length",
            "train/episode_length",
            "EpLen",
            "episode_len_mean",
            "episodic_length",
            "episode_length",
        ),
    ),
    Tag(
        "pace/env_steps",
        "charts/SPS",
        "time/fps",
        ("num_env_steps_sampled_per_second", "env_steps_per_second", "steps_per_second", "SPS", "fps"),
    ),
    Tag(
        "optimizer/lr",
        "charts/learning_rate",
        "train/learning_rate",
        ("train/lr", "default_optimizer_learning_rate", "cur_lr", "learning_rate", "lr"),
    ),
    Tag(
        "exploration/epsilon",
        "charts/epsilon",
        "rollout/exploration_rate",
        ("train/epsilon", "train/eps", "exploration_rate", "epsilon"),
    ),
    Tag(
        "loss/policy",
        "losses/policy_loss",
        "train/policy_gradient_loss",
        (
            "train/policy_loss",
            "losses/actor_loss",
            "train/actor_loss",
            "train/loss_objective",  # TorchRL
            "train/loss_actor",
            "train/a_loss",
            "update/loss/actor",
            "LossPi",  # Spinning Up
            "policy_gradient_loss",
            "policy_loss",
            "actor_loss",
            "pg_loss",
        ),
    ),
    Tag(
        "loss/value",
        "losses/value_loss",
        "train/value_loss",
        (
            "losses/td_loss",
            "losses/qf_loss",
            "losses/qf1_loss",
            "train/critic_loss",
            "train/loss_critic",  # TorchRL
            "train/q_loss",
            "train/loss_qvalue",
            "vf_loss",  # RLlib
            "LossV",  # Spinning Up
            "LossQ",
            "value_loss",
            "critic_loss",
            "td_loss",
            "qf_loss",
            "q_loss",
        ),
    ),
    Tag("loss/total", "losses/loss", "train/loss", ("update/loss", "total_loss", "loss")),
    Tag("loss/temperature", "losses/alpha_loss", "train/ent_coef_loss", ("train/alpha_loss", "alpha_loss")),
    Tag(
        "policy/entropy",
        "losses/entropy",
        None,
        ("train/entropy", "policy_entropy", "curr_entropy", "entropy"),
    ),
    Tag("policy/entropy", None, "train/entropy_loss", (), negated, negated),
    Tag("policy/kl", "losses/approx_kl", "train/approx_kl", ("approx_kl",)),
    Tag("policy/kl_k1", "losses/old_approx_kl", None, ("train/kl_approx", "old_approx_kl", "KL")),
    Tag("policy/kl_exact", None, "train/kl_divergence_loss", ("mean_kl_loss",)),
    Tag("policy/clip_fraction", "losses/clipfrac", "train/clip_fraction", ("ClipFrac", "clip_fraction")),
    Tag(
        "value/residual_var",
        "losses/explained_variance",
        "train/explained_variance",
        ("vf_explained_var", "explained_variance", "explained_var"),
        one_minus,
        one_minus,
    ),
    Tag("value/residual_var"),
    Tag(
        "value/mean",
        None,
        None,
        (
            "losses/q_values",
            "losses/qf1_values",
            "train/q_values",
            "AverageVVals",
            "VVals",
            "AverageQ1Vals",
            "Q1Vals",
            "QVals",
            "q_values",
        ),
    ),
    Tag(
        "grad/norm",
        None,
        None,
        (
            "losses/grad_norm",
            "train/grad_norm",
            "gradients_default_optimizer_global_norm",
            "grad_gnorm",
            "grad_norm",
            "gradient_norm",
        ),
    ),
)

ENV_STEPS = (
    "time/total_timesteps",
    "global_step",
    "charts/global_step",
    "training/env_step",
    "train/env_step",
    "num_env_steps_sampled_lifetime",
    "TotalEnvInteracts",
    "env_step",
    "env_steps",
    "total_timesteps",
)
"""Tags that count environment steps: where a log has no step of its own."""

UPDATES = ("train/n_updates", "update/update_step", "n_updates", "num_module_steps_trained_lifetime")
"""Tags that count learner steps."""

_ELSEWHERE = frozenset({"eval", "evaluation", "test", "testing", "validation", "valid", "smoothed"})
_ALONE = frozenset({"loss"})  # too general to be an ending: `encoder/loss`


def ours(tag: str) -> list[Tag]:
    """The readings that a tag stands for; none where it is unknown, of an evaluation, or smoothed. Case does not
    matter, nor what stands before it (`PPO_1/rollout/ep_rew_mean`): the longest ending that is known counts."""
    parts = tag.strip().strip("/").lower().split("/")
    if not _ELSEWHERE.isdisjoint(parts):
        return []
    for start in range(len(parts)):
        ending = "/".join(parts[start:])
        if ending in _by_spelling() and (start == 0 or ending not in _ALONE):
            return list(_by_spelling()[ending])
    return []


def conventional(name: str, convention: Convention) -> list[Tag]:
    """The rows by which a reading of ours is written in a convention; none where it has no name there."""
    return [each for each in TAGS if each.ours == name and getattr(each, convention) is not None]


@cache
def _by_spelling() -> dict[str, list[Tag]]:
    table: dict[str, list[Tag]] = {}
    for tag in TAGS:
        for spelling in tag.spellings:
            table.setdefault(spelling.lower(), []).append(tag)
    return table
