"""Lightning: a callback for a Trainer whose LightningModule does reinforcement learning.

    trainer = L.Trainer(callbacks=[RLDebugCallback(run="cartpole")], …)
    trainer.fit(agent)

A loop written with Fabric has no callbacks for its beginning and its end: there it is `with rldebug.attach(...):`.
"""

from __future__ import annotations

import os
from typing import Any

from rldebug.attach import Attached, attach
from rldebug.finding import Report

try:
    from lightning.pytorch import Callback
except ImportError:
    try:
        from pytorch_lightning import Callback  # the same, under its older name
    except ImportError as error:
        raise ImportError(
            f"rldebug.integrations.lightning needs Lightning, which cannot be imported here ({error}): "
            "pip install 'rldebug[lightning]'"
        ) from error


class RLDebugCallback(Callback):  # type: ignore[misc,unused-ignore]
    """Watches `trainer.fit` from its setup on, and tells what it found when that ends or fails.

    run       what the run is called; it is kept in `folder/run`
    options   those of `rldebug.attach`: folder, select, ignore, overhead_budget, frames, quiet
    """

    def __init__(self, run: str = "lightning", **options: Any) -> None:
        self.run, self.options = run, options
        self.attached: Attached | None = None
        self.report: Report | None = None  # when fit has ended

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Before optimizers are made."""
        if stage != "fit" or self.attached is not None:
            return
        rank, world = int(trainer.global_rank), int(trainer.world_size)
        if world > 1:
            os.environ.setdefault("RANK", str(rank))  # the first one speaks for all
        self.attached = attach(self.run, **self.options)
        self.attached.declare(
            library="lightning",
            module=type(pl_module).__name__,
            automatic_optimization=bool(pl_module.automatic_optimization),
            accumulate_grad_batches=trainer.accumulate_grad_batches,
            gradient_clip_val=trainer.gradient_clip_val,
            precision=str(trainer.precision),
            **_simple(pl_module),
        )

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
        self._close(None)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._close(exception)

    def _close(self, error: BaseException | None) -> None:
        attached, self.attached = self.attached, None
        if attached is not None:
            self.report = attached.close(error)


def _simple(module: Any) -> dict[str, Any]:
    """What `save_hyperparameters()` has kept, as far as it is plain."""
    kept = dict(getattr(module, "hparams", {}) or {})
    return {"hparams": {name: each for name, each in kept.items() if isinstance(each, (bool, int, float, str))}}
