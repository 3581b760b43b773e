"""Language models: what each place of a sequence was pushed towards, and what lies around when the program learns.

A network that is given whole numbers, one sequence a row, and answers with one row of scores for each place. There is
no environment to compare with; the tokens it wrote itself, the log-probs it wrote them with and the gradient of the
loss at its scores say what the program does, whatever form its loss is written in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
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
_SMALL, _MANY = 4096, 800  # scores of a call of which there are more: one sequence is written after the other
_KEPT = 32768  # scores that are kept as they are
_GRADIENTS = 48
_ROWS = 64  # of the scores at the last place
_VOCABULARY = 512


class Tokens:
    def __init__(self, session: Any) -> None:
        self.session = session
        self._audit: int | None = None
        self._calls = self._gradients = self._valued = 0
        self._written: set[int] = set()  # rows of the calls that may have written a token
        self._looked = 0  # at the program's variables, since then

    def follow(self, name: str, training: bool, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
        """After a call was recorded, as the last event so far."""
        audit = self.session.audit
        ids = next((each for each in inputs if each.dtype in (torch.int64, torch.int32) and each.dim() == 2), None)
        if audit is None or ids is None:
            return
        if audit.number != self._audit:
            self._audit = audit.number
            self._calls = self._gradients = self._valued = 0
            self._written = set()
        alone = not self.session.log.calls  # an environment may observe whole numbers too
        scores = next((each for each in outputs if _are_scores(each, ids, (2, 3) if alone else (3,))), None)
        if alone:
            self._values(audit, name, ids, outputs)
        if scores is None or scores.numel() > _SCORES:
            return
        grad = scores.grad_fn is not None
        if self._calls >= (_MANY if scores.numel() <= _SMALL else _CALLS) * (2 if grad else 1):
            return
        self._calls += 1
        event = self._called(audit, name, training, ids, scores.detach(), grad)
        if not grad:
            # A sequence that is alone, or one token of each of them, where time comes first.
            self._written |= {len(ids), ids.shape[1]} if len(ids) == 1 and ids.shape[1] > 3 else {len(ids)}
            self._looked = 0
            return
        if self._written and self._looked < 2:
            self._looked += 1
            audit.event("held", *self._held({*self._written, len(ids)}))
        node: Any = scores.grad_fn
        if scores.dim() == 3 and self._gradients < _GRADIENTS:
            self._gradients += 1
            node.register_prehook(_Hook(self, self.pushed, audit.number, event, scores.output_nr, scores.detach()))

    def _values(self, audit: Any, name: str, ids: Tensor, outputs: Sequence[Tensor]) -> None:
        """What a critic says of each place: of a head of the same network, or of a network of its own."""
        each = next((one for one in outputs if _are_values(one, ids)), None)
        if each is None or min(ids.shape) < 2 or self._valued >= _CALLS:
            return
        self._valued += 1
        values = each.detach().reshape(ids.shape)
        arrays = {"ids": ids.detach().cpu().numpy().astype(np.int32), "values": values.float().cpu().numpy().copy()}
        number, node = len(audit.events), each.grad_fn
        audit.event("token-values", {"module": name, "grad": node is not None, "line": users_line(5)}, arrays)
        if node is not None:
            node.register_prehook(_Hook(self, self.valued, audit.number, number, each.output_nr, values))

    def _called(self, audit: Any, name: str, training: bool, ids: Tensor, scores: Tensor, grad: bool) -> int:
        arrays: dict[str, NDArray[Any]] = {"ids": ids.detach().cpu().numpy().astype(np.int32)}
        last = scores if scores.dim() == 2 else scores[:, -1]
        if last.shape[-1] <= _VOCABULARY and not grad:
            arrays["last"] = last[:_ROWS].float().cpu().numpy().copy()
            if scores.dim() == 3 and scores.shape[1] > 1:
                arrays["last_below"] = scores[-1][:_ROWS].float().cpu().numpy().copy()
        if (
            scores.dim() == 3
            and scores.shape[1] == ids.shape[1]
            and ids.shape[1] > 1
            and scores.shape[-1] > int(ids.max())
        ):
            if not grad and scores.numel() <= _KEPT:
                arrays["scores"] = scores.float().cpu().numpy().copy()
            after = torch.log_softmax(scores.float(), -1)
            arrays["logp"] = after[:, :-1].gather(2, ids[:, 1:, None].long()).squeeze(2).cpu().numpy()
            if len(ids) > 1:  # time may come first
                arrays["logp_below"] = after[:-1].gather(2, ids[1:, :, None].long()).squeeze(2).cpu().numpy()
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

    def valued(self, audit_number: int, call: int, gradient: Tensor, values: Tensor) -> None:
        audit = self.session.audit
        if audit is None or audit.number != audit_number or gradient.numel() != values.numel():
            return
        found = gradient.detach().reshape(values.shape).float().cpu().numpy().copy()
        audit.event("value-gradient", {"of": call}, {"gradient": found})

    # ── what lies around ────────────────────────────────────────────────────────────────────────────────────────────

    def _held(self, lengths: set[int]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        found = held(sys._getframe(3), lengths)
        return {"names": [name for name, _ in found], "written": sorted(self._written)}, {
            str(place): array for place, (_, array) in enumerate(found)
        }


def _are_scores(tensor: Tensor, ids: Tensor, dimensions: tuple[int, ...]) -> bool:
    """One row of scores for each place, or for the last one only."""
    if tensor.dim() not in dimensions or not tensor.is_floating_point() or len(tensor) != len(ids):
        return False
    return tensor.shape[-1] > 3 and (tensor.dim() == 2 or tensor.shape[1] in (1, ids.shape[1]))


def _are_values(tensor: Tensor, ids: Tensor) -> bool:
    """One number for each place."""
    return tensor.is_floating_point() and tuple(tensor.shape) in (tuple(ids.shape), (*ids.shape, 1))


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

    __slots__ = ("audit", "call", "output", "said", "tell", "watch")

    def __init__(
        self, watch: Tokens, tell: Callable[..., None], audit: int, call: int, output: int, said: Tensor
    ) -> None:
        self.watch, self.tell, self.audit, self.call, self.output, self.said = watch, tell, audit, call, output, said

    def __call__(self, gradients: Sequence[Tensor | None]) -> None:
        session = self.watch.session
        if session.audit is None or self.output >= len(gradients) or gradients[self.output] is None:
            return
        with session.timed():
            session.switch.guard(GROUP, self.tell, self.audit, self.call, gradients[self.output], self.said)
