"""What TRL's trainers do with answers in a loss: each pass over them, and the gradient at every log-prob."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.answers import Answers, compared, fingerprint, mean_within, numbers, pushed

_MOST = 32  # passes over a round that are kept
_ROWS = 512  # of a pass
_OLD = ("old_per_token_logps", "old_logps")


@dataclass(frozen=True)
class Written:
    """What is known of the answers of a round when they are trained."""

    rows: Mapping[int, Sequence[int]]  # fingerprint of a whole row -> which answers have it
    advantages: NDArray[np.float64]
    said: NDArray[np.float64] | None  # log-probs of the sampler, as they were drawn or handed over
    cut: NDArray[np.bool_]  # whose sampler cut its distribution
    update: int


def keys(prompts: Tensor, answers: Tensor) -> list[int]:
    """Fingerprints of whole rows with their filler: as they lie in the batch, whatever a mask says."""
    return [fingerprint(row) for row in torch.cat([prompts, answers], 1).cpu().tolist()]


def mask_of(batch: Mapping[str, Any]) -> Any:
    """The places of the answers that the policy wrote."""
    return batch["completion_mask"] * batch["tool_mask"] if "tool_mask" in batch else batch["completion_mask"]


class Passes:
    """Looks at the loss, and at the log-probs within it. A pass is written down when its gradient is known."""

    def __init__(self, trainer: Any, answers: Answers) -> None:
        self.trainer, self.answers = trainer, answers
        self._written: Written | None = None
        self._count = 0
        self._in_loss: Mapping[str, Any] | None = None
        self._scored: tuple[Tensor, Tensor | None] | None = None
        self._pending: tuple[dict[str, Any], dict[str, Any], NDArray[np.bool_], Any] | None = None

    def begin_round(self, written: Written | None) -> None:
        """None: passes over these answers are not looked at."""
        self.end()
        self._written, self._count = written, 0

    def loss_begins(self, model: Any, inputs: Any, *_: Any, **__: Any) -> None:
        self.end()
        looks = self._written is not None and self._count < _MOST and self.trainer.model.training
        self._in_loss, self._scored = (inputs if looks else None), None

    def log_probs(self, result: Any, *_: Any, **__: Any) -> None:
        if self._in_loss is not None and self._scored is None and isinstance(result[0], Tensor):
            self._scored = (result[0], result[1])
            if result[0].requires_grad:
                result[0].register_hook(partial(self._pushed, self._count + 1))  # type: ignore[no-untyped-call]

    def loss_ends(self, result: Any, *_: Any, **__: Any) -> None:
        inputs, self._in_loss = self._in_loss, None
        if inputs is None or self._scored is None:
            return
        self._count += 1
        columns, mask, away = self._compare(inputs, *self._scored)
        self._scored = None
        facts = {"loss": float(result.detach()), "old": any(name in inputs for name in _OLD)}
        self._pending = (columns, facts, mask, away)

    def _compare(
        self, inputs: Mapping[str, Any], scored: Tensor, entropy: Tensor | None
    ) -> tuple[dict[str, Any], NDArray[np.bool_], Any]:
        mask = numbers(mask_of(inputs)) > 0
        ours = numbers(scored)
        written = self._written
        assert written is not None
        rows = [written.rows.get(key, ()) for key in keys(inputs["prompt_ids"], inputs["completion_ids"])]
        given = numbers(inputs["advantages"])
        given = given if given.ndim == 1 else mean_within(given, mask)
        columns: dict[str, Any] = {
            "advantage": given,
            "given": np.array(
                [_nearest(written.advantages[list(found)], each) for found, each in zip(rows, given, strict=True)]
            ),
        }
        if entropy is not None:
            columns["entropy"] = mean_within(numbers(entropy), mask)
        columns |= self._to_last_policy(inputs, ours, mask, given)
        if written.said is not None:
            unknown = np.full(written.said.shape[1], np.nan)
            said = np.array([written.said[found[0]] if found else unknown for found in rows])
            if said.shape == ours.shape:
                columns["sampled"], columns["sampled_k3"] = compared(ours, said, mask)
                columns["shifted_k3"] = compared(ours[:, 1:], said[:, :-1], mask[:, 1:])[1]
                columns["renormalised"] = np.array([bool(found) and bool(written.cut[found[0]]) for found in rows])
        away = None
        if isinstance(inputs.get("ref_per_token_logps"), Tensor):
            reference = numbers(inputs["ref_per_token_logps"])
            columns["reference"], columns["reference_k3"] = compared(reference, ours, mask)
            away = 1.0 - np.exp(np.clip(reference - ours, -20.0, 20.0))
        return columns, mask, away

    def _to_last_policy(
        self, inputs: Mapping[str, Any], ours: NDArray[np.float64], mask: NDArray[np.bool_], given: NDArray[np.float64]
    ) -> dict[str, Any]:
        low = float(getattr(self.trainer, "epsilon_low", 0.2))
        high = float(getattr(self.trainer, "epsilon_high", low))
        if isinstance(inputs.get("old_per_token_logps"), Tensor):
            old = numbers(inputs["old_per_token_logps"])
            size, estimate = compared(ours, old, mask)
            ratio, sign = np.exp(np.clip(ours - old, -20, 20)), given[:, None]
            clipped = ((ratio < 1 - low) & (sign < 0)) | ((ratio > 1 + high) & (sign > 0))
            return {"log_ratio": size, "k3": estimate, "clipped": mean_within(clipped.astype(float), mask)}
        if isinstance(inputs.get("old_logps"), Tensor):
            log_ratio = np.where(mask, ours, 0.0).sum(1) - numbers(inputs["old_logps"])
            ratio = np.exp(np.clip(log_ratio, -20, 20))
            clipped = ((ratio < 1 - low) & (given < 0)) | ((ratio > 1 + high) & (given > 0))
            return {"log_ratio": np.abs(log_ratio) / np.maximum(1, mask.sum(1)), "clipped": clipped.astype(float)}
        return {}

    def _pushed(self, number: int, gradient: Tensor) -> None:
        """Called by autograd: the gradient at the log-probs of a pass."""
        if self._pending is None or number != self._count:
            return
        try:
            columns, _, mask, away = self._pending
            columns |= pushed(numbers(gradient), mask, away)
        except Exception:  # autograd must not see it; the pass is kept without
            self._pending[1]["gradient"] = "could not be read"
        self.end()

    def end(self) -> None:
        """Write what is known of the last pass."""
        pending, self._pending = self._pending, None
        if pending is not None and self._written is not None:
            columns, facts = pending[0], pending[1]
            update = int(self.trainer.state.global_step)
            kept = {name: np.asarray(each)[:_ROWS] for name, each in columns.items()}
            self.answers.passed(update, update - self._written.update, kept, facts)


def _nearest(known: NDArray[np.float64], value: float) -> float:
    """Answers that read the same may have been given different things: the one that fits best."""
    return float(known[np.abs(known - value).argmin()]) if len(known) else float("nan")
