"""TorchRL: a hook for its Trainer, and for loops of one's own what lies in the TensorDict of a collector.

    RLDebugHook(run="cartpole").register(trainer)
    trainer.train()

What networks, losses and environments do is seen without help. Handed over is what only a TensorDict holds: the values
and log-probs of the time of acting, under the keys that the loss module names.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from torch import Tensor

from rldebug.attach import Attached, attach
from rldebug.finding import Report
from rldebug.integrations.handing_over import Pace, harmless

try:
    from torchrl.trainers import TrainerHookBase
except ImportError as error:
    raise ImportError(
        f"rldebug.integrations.torchrl needs TorchRL, which cannot be imported here ({error}): "
        "pip install 'rldebug[torchrl]'"
    ) from error

_GROUP = "integrations/torchrl"

KEYS: Mapping[str, Any] = {
    "obs": "observation",
    "action": "action",
    "reward": "reward",
    "done": "done",
    "terminated": "terminated",
    "truncated": "truncated",
    "value": "state_value",
    "logp": "action_log_prob",
}
"""Where things lie unless a loss module or the user says otherwise; reward and ends below "next"."""

_NAMES = {"sample_log_prob": "logp"}  # of TorchRL, for ours
_AFTER = ("reward", "done", "terminated", "truncated")
_OLD_LOGP = "sample_log_prob"


class RLDebugHook(TrainerHookBase):  # type: ignore[misc,unused-ignore]
    """Watches from the beginning of `trainer.train()` to its end, which prints the diagnosis.

    run      what the run is called; it is kept in `folder/run`. The name of the loss module unless given
    keys     where things lie in the TensorDict, beyond what the loss module says: `{"obs": "pixels"}`
    quiet    print nothing: `report` has the diagnosis

    As a context manager it watches the whole block, and what is raised in it.
    """

    def __init__(
        self,
        run: str = "",
        *,
        keys: Mapping[str, Any] | None = None,
        folder: str | Path = ".rldebug/runs",
        select: tuple[str, ...] | list[str] = (),
        ignore: tuple[str, ...] | list[str] = (),
        overhead_budget: float | None = None,
        quiet: bool = False,
    ) -> None:
        super().__init__()
        _checked(keys)
        self.dbg: Attached | None = None
        self.report: Report | None = None
        self.trainer: Any = None
        self._run, self._keys, self._for_a_block = run, dict(keys or {}), False
        self._options: dict[str, Any] = {
            "folder": folder, "select": select, "ignore": ignore, "overhead_budget": overhead_budget, "quiet": quiet,
        }  # fmt: skip
        self._pace = Pace()

    def register(self, trainer: Any, name: str = "rldebug") -> RLDebugHook:
        """With every stage that it needs. Nothing of it is written to checkpoints."""
        self.trainer = trainer
        trainer.register_op("setup", self._begin)
        if getattr(trainer, "learner_backend", None) != "ray":  # it learns elsewhere, and has no such stages here
            trainer.register_op("pre_steps_log", self._collected)
            trainer.register_op("process_optim_batch", self._sampled)
        trainer.register_op("shutdown", self._end)
        return self

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        pass

    def __enter__(self) -> RLDebugHook:
        self._for_a_block = True
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    def close(self, error: BaseException | None = None) -> Report | None:
        """The diagnosis; nothing is watched any more. `train()` calls it, unless it raises, or is called in a block."""
        self._for_a_block = False
        if self.dbg is not None:
            self.report, self.dbg = self.dbg.close(error), None
        return self.report

    # ── what the trainer calls ──────────────────────────────────────────────────────────────────────────────────────

    def _begin(self) -> None:
        if self.dbg is None:
            loss = getattr(self.trainer, "loss_module", None)
            self.dbg = attach(run=self._run or type(loss).__name__.removesuffix("Loss").lower(), **self._options)
        if self.trainer is not None:
            self._harmless(lambda dbg: dbg.declare(**settings_of(self.trainer)))

    def _collected(self, batch: Any) -> None:
        if batch is not None:
            self._harmless(lambda dbg: hand_over(dbg, batch, loss=self.trainer.loss_module, keys=self._keys))

    def _sampled(self, batch: Any) -> None:
        if self.dbg is None or batch is None or not self._replays():
            return
        if self._pace.due(self.trainer.collected_frames):
            loss = self.trainer.loss_module
            self._harmless(lambda dbg: hand_over(dbg, batch, loss=loss, keys=self._keys, rollout=False))

    def _end(self) -> None:
        if not self._for_a_block:
            self.close()

    # ── how ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _replays(self) -> bool:
        """Whether it learns from rows of long ago: a policy-gradient loss reads the log-prob of the time of acting."""
        return not hasattr(self.trainer.loss_module.tensor_keys, "sample_log_prob")

    def _harmless(self, what: Callable[[Attached], None]) -> None:
        harmless(_GROUP, self.dbg, what)


def hand_over(
    dbg: Attached,
    tensordict: Any,
    *,
    loss: Any = None,
    keys: Mapping[str, Any] | None = None,
    rollout: bool | None = None,
) -> None:
    """What a collector yields, or a replay buffer, as `dbg.rollout` or `dbg.replay` take it.

    loss       the loss module that reads it: its `tensor_keys` say where values, log-probs, rewards and ends lie
    keys       what else lies elsewhere than in `KEYS`
    rollout    whether the last axis is time; as the names of the axes say, unless given
    """
    found = _found(tensordict, _keys_of(loss, keys))
    axes = len(tensordict.batch_size)
    if not axes:
        raise ValueError(
            "hand_over() got a TensorDict without a batch size, expected one of a collector, or of a buffer"
        )
    names = tensordict.names if tensordict._has_names() else []
    if rollout is None:
        rollout = bool(names) and names[-1] == "time"
    if rollout:
        found.pop("next_obs", None)
        given: dict[str, Any] = {name: _time_first(each, axes) for name, each in found.items()}
        dbg.rollout(**given)
    else:
        rows = {name: each.reshape(-1, *each.shape[axes:]) for name, each in found.items()}
        dbg.replay(**{name: each for name, each in rows.items() if name not in ("value", "logp")})


def _found(given: Any, keys: Mapping[str, Any]) -> dict[str, Tensor]:
    """What is there, one number for each step where there is to be one; of one-hot actions the places."""
    after = given.get("next", None)
    found = {name: given.get(key, None) for name, key in keys.items() if name not in _AFTER}
    if found["logp"] is None and keys["logp"] == KEYS["logp"]:
        found["logp"] = given.get(_OLD_LOGP, None)
    if after is not None:
        found |= {name: after.get(keys[name], None) for name in _AFTER}
        found["next_obs"] = after.get(keys["obs"], None)
    done = found.pop("done", None)
    if found.get("terminated") is None:
        found["terminated"] = done
    axes = len(given.batch_size)
    tensors = {name: each.detach() for name, each in found.items() if isinstance(each, Tensor)}
    for name, each in tensors.items():
        if name not in ("obs", "next_obs", "action") and each.dim() == axes + 1 and each.shape[-1] == 1:
            tensors[name] = each.squeeze(-1)
    action = tensors.get("action")
    if action is not None and action.dim() == axes + 1 and not action.dtype.is_floating_point:
        one_hot = action.shape[-1] > 1 and bool(((action.sum(-1) == 1) & (action.amax(-1) == 1)).all())
        tensors["action"] = action.long().argmax(-1) if one_hot else action
    return tensors


def _time_first(tensor: Tensor, axes: int) -> Tensor:
    """`(T,)` or `(T, B)`: collectors put the environments first."""
    if axes == 1:
        return tensor
    return tensor.movedim(axes - 1, 0).flatten(1, axes - 1) if axes > 2 else tensor.movedim(1, 0)


def _keys_of(loss: Any, keys: Mapping[str, Any] | None) -> dict[str, Any]:
    _checked(keys)
    told: dict[str, Any] = {}
    if loss is not None:
        own = getattr(loss, "tensor_keys", None)
        if own is None:
            raise TypeError(f"hand_over(loss=...) got a {type(loss).__name__}, expected a loss module of TorchRL")
        told = {_NAMES.get(name, name): getattr(own, name) for name in vars(own) or _fields(own)}
    return {**KEYS, **{name: key for name, key in told.items() if name in KEYS}, **(keys or {})}


def _fields(keys: Any) -> list[str]:
    return [each.name for each in dataclasses.fields(keys)] if dataclasses.is_dataclass(keys) else []


def _checked(keys: Mapping[str, Any] | None) -> None:
    unknown = [each for each in keys or () if each not in KEYS]
    if unknown:
        raise ValueError(f"keys={{{unknown[0]!r}: …}} is not known: expected some of {', '.join(KEYS)}")


def settings_of(trainer: Any) -> dict[str, Any]:
    """What it was made with, as far as that is numbers, texts and switches."""
    loss, collector = trainer.loss_module, trainer.collector
    told: dict[str, Any] = {"algorithm": type(loss).__name__.removesuffix("Loss"), "library": "torchrl"}
    for thing, names in (
        (trainer, ("total_frames", "frame_skip", "optim_steps_per_batch", "num_epochs", "clip_grad_norm", "clip_norm")),
        (collector, ("frames_per_batch", "init_random_frames", "max_frames_per_traj")),
        (loss, ("clip_epsilon", "entropy_coeff", "critic_coeff", "delay_value", "delay_qvalue", "num_qvalue_nets")),
        (getattr(loss, "_value_estimator", None), ("gamma", "lmbda", "average_gae")),
    ):
        for name in names:
            value = _plain(getattr(thing, name, None))
            if value is not None:
                told[name] = value
    optimizer = getattr(trainer, "optimizer", None)
    if isinstance(optimizer, torch.optim.Optimizer):
        told |= {"optimizer": type(optimizer).__name__, "lr": [_plain(each["lr"]) for each in optimizer.param_groups]}
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor) and value.numel() == 1:
        return value.item()
    return value if isinstance(value, (bool, int, float, str)) else None
