"""Language models: what each place of a sequence was pushed towards, and what lies around when the program learns.

A network that is given whole numbers, one sequence a row, and answers with one row of scores for each place. There is
no environment to compare with; the tokens it wrote itself, the log-probs it wrote them with and the gradient of the
loss at its scores say what the program does, whatever form its loss is written in.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rldebug.capture.place import users_line
from rldebug.capture.token_variables import held

GROUP = "networks"
_SCORES = 4_000_000  # of one call: more take too long to look at
_CALLS = 160  # of one audit that are kept
_GRADIENTS = 48
_ROWS = 64  # of the scores at the last place
_VOCABULARY = 512


class Tokens:
    def __init__(self, session: Any) -> None:
        self.session = session
        self._audit: int | None = None
        self._calls = self._gradients = 0
        self._written = 0  # rows of the last call that wrote a token
        self._looked = 0  # at the program's variables, since then

    def follow(self, name: str, training: bool, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """After a call was recorded, as the last event so far."""
        audit = self.session.audit
        ids = next((each for each in inputs if each.dtype in (torch.int64, torch.int32) and each.dim() == 2), None)
        if audit is None or ids is None:
            return
        alone = not self.session.log.calls  # an environment may observe whole numbers too
        scores = next((each for each in outputs if _are_scores(each, ids, (2, 3) if alone else (3,))), None)
        if scores is None or scores.numel() > _SCORES:
            return
        if audit.number != self._audit:
            self._audit = audit.number
            self._calls = self._gradients = 0
        grad = scores.grad_fn is not None
        if self._calls >= _CALLS * (2 if grad else 1):
            return
        self._calls += 1
        event = self._called(audit, name, training, ids, scores.detach(), grad)
        if not grad:
            self._written, self._looked = len(ids), 0
            return
        if self._written and self._looked < 2:
            self._looked += 1
            audit.event("held", *self._held({self._written, len(ids)}))
        node: Any = scores.grad_fn
        if scores.dim() == 3 and self._gradients < _GRADIENTS:
            self._gradients += 1
            node.register_prehook(_Hook(self, audit.number, event, scores.output_nr, scores.detach()))

    def _called(self, audit: Any, name: str, training: bool, ids: Tensor, scores: Tensor, grad: bool) -> int:
        arrays: dict[str, NDArray[Any]] = {"ids": ids.detach().cpu().numpy().astype(np.int32)}
        last = scores if scores.dim() == 2 else scores[:, -1]
        if last.shape[-1] <= _VOCABULARY and not grad:
            arrays["last"] = last[:_ROWS].float().cpu().numpy().copy()
        if (
            scores.dim() == 3
            and scores.shape[1] == ids.shape[1]
            and ids.shape[1] > 1
            and scores.shape[-1] > int(ids.max())
        ):
            after = torch.log_softmax(scores[:, :-1].float(), -1)
            arrays["logp"] = after.gather(2, ids[:, 1:, None].long()).squeeze(2).cpu().numpy()
        number = len(audit.events)
        detail = {
            "module": name,
            "grad": grad,
            "training": training,
            "shape": list(scores.shape),
            "line": users_line(4),
        }
        audit.event("tokens", detail, arrays)
        return number

    # ── what the loss pushes ────────────────────────────────────────────────────────────────────────────────────────

    def pushed(self, audit_number: int, call: int, gradient: Tensor, scores: Tensor) -> None:
        audit = self.session.audit
        if audit is None or audit.number != audit_number or gradient.shape != scores.shape:
            return
        g = gradient.detach().float()
        size = g.abs().sum(-1)
        label = g.abs().argmax(-1)
        push = -g.gather(2, label[..., None]).squeeze(2)
        slope = _slope(g, scores.float(), label, size)
        chance = torch.log_softmax(scores.float() * (slope or 1.0), -1).gather(2, label[..., None]).squeeze(2)
        arrays = {"label": label, "push": push, "size": size, "chance": chance}
        found = {key: each.cpu().numpy() for key, each in arrays.items()}
        detail = {"of": call, "slope": slope}
        found["label"] = found["label"].astype(np.int32)
        audit.event("token-gradient", detail, found)

    # ── what lies around ────────────────────────────────────────────────────────────────────────────────────────────

    def _held(self, lengths: set[int]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        found = held(sys._getframe(3), lengths)
        return {"names": [name for name, _ in found], "written": self._written}, {
            str(place): array for place, (_, array) in enumerate(found)
        }


def _are_scores(tensor: Tensor, ids: Tensor, dimensions: tuple[int, ...]) -> bool:
    """One row of scores for each place, or for the last one only."""
    if tensor.dim() not in dimensions or not tensor.is_floating_point() or len(tensor) != len(ids):
        return False
    return tensor.shape[-1] > 3 and (tensor.dim() == 2 or tensor.shape[1] in (1, ids.shape[1]))


def _slope(g: Tensor, scores: Tensor, label: Tensor, size: Tensor) -> float | None:
    """One over the temperature of the loss: but for the label, the gradient is the softmax of scores times it."""
    flat, places = size.flatten(), min(32, size.numel())
    best = flat.topk(places).indices
    slopes = []
    for each in best.tolist():
        if float(flat[each]) <= 0:
            continue
        row, seen = g.reshape(-1, g.shape[-1])[each].double(), scores.reshape(-1, g.shape[-1])[each].double()
        keep = torch.ones_like(row, dtype=torch.bool)
        keep[label.flatten()[each]] = False
        keep &= row != 0  # tokens that are forbidden
        y, x = row[keep], seen[keep]
        if len(y) < 3 or not ((y > 0).all() or (y < 0).all()):
            continue  # an entropy bonus, a divergence of whole distributions
        y = y.abs().log()
        x = x - x.mean()
        if float(x.std()) > 1e-3:
            slopes.append(float((x * (y - y.mean())).sum() / (x * x).sum()))
    return float(np.median(slopes)) if len(slopes) >= places // 2 else None


class _Hook:
    """Runs in the program's backward pass: returns None, whatever happens."""

    __slots__ = ("audit", "call", "output", "scores", "watch")

    def __init__(self, watch: Tokens, audit: int, call: int, output: int, scores: Tensor) -> None:
        self.watch, self.audit, self.call, self.output, self.scores = watch, audit, call, output, scores

    def __call__(self, gradients: Sequence[Tensor | None]) -> None:
        session = self.watch.session
        if session.audit is None or self.output >= len(gradients) or gradients[self.output] is None:
            return
        with session.timed():
            session.switch.guard(GROUP, self.watch.pushed, self.audit, self.call, gradients[self.output], self.scores)
