"""TRL: a callback that watches GRPO and RLOO training of a language model and says what is wrong.

    trainer = GRPOTrainer(…)
    trainer.add_callback(RLDebugCallback(run="my-model"))
    trainer.train()

Networks, losses and optimizers are seen as in any program. Of the answers the callback keeps one row each: how likely
its tokens were to the sampler, the trainer and the reference, its rewards and advantage, and what the loss did to it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from rldebug.attach import Attached, attach
from rldebug.capture.answers import Answers
from rldebug.finding import Report
from rldebug.integrations.trl_rounds import Watcher, settings_of

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError(
        f"rldebug.integrations.trl needs trl and transformers, which cannot be imported here ({error}): "
        "pip install 'rldebug[trl]'"
    ) from error

_METHODS = (
    "_generate_and_score_completions", "_generate", "_generate_single_turn", "_calculate_rewards", "_compute_loss",
    "_get_per_token_logps_and_entropies",
)  # fmt: skip


class RLDebugCallback(TrainerCallback):  # type: ignore[misc,unused-ignore]
    """Watches from the beginning of `train` to its end, which prints the diagnosis.

    run          what the run is called; it is kept in `folder/run`
    score_again  ask every reward function a second time about some batches, in another order: finds rewards that come
                 back in the wrong order, or depend on what else is in the batch. It calls your code: off unless asked
    quiet        print nothing: `report` has the diagnosis

    As a context manager it tells what `train` raises, too.

        with RLDebugCallback() as watch:
            trainer.add_callback(watch)
            trainer.train()
    """

    def __init__(
        self,
        run: str = "trl",
        *,
        folder: str | Path = ".rldebug/runs",
        select: tuple[str, ...] | list[str] = (),
        ignore: tuple[str, ...] | list[str] = (),
        overhead_budget: float | None = None,
        score_again: bool = False,
        quiet: bool = False,
    ) -> None:
        super().__init__()
        self.dbg: Attached | None = None
        self.report: Report | None = None
        self.broken: dict[str, str] = {}  # what failed and was switched off, with its traceback
        self._run, self._score_again = run, score_again
        self._options: dict[str, Any] = {
            "folder": folder, "select": select, "ignore": ignore, "overhead_budget": overhead_budget, "quiet": quiet,
        }  # fmt: skip
        self._watcher: Watcher | None = None
        self._answers: Answers | None = None
        self._put_back: list[tuple[Any, str, Any]] = []

    def __enter__(self) -> RLDebugCallback:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(error)

    # ── what the library calls ──────────────────────────────────────────────────────────────────────────────────────

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        trainer = self._trainer()
        self.dbg = attach(self._run, **self._options)
        if trainer is None:
            self.broken["the trainer"] = "no trainer that has this callback calls it: its answers are not seen"
            return
        self._harmless("settings", lambda: self._begin(trainer))

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._watcher is not None:
            self._harmless("passes", self._watcher.passes.end)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        if self._answers is not None and isinstance(logs, dict):
            told = {name: float(each) for name, each in logs.items() if isinstance(each, (int, float))}
            answers = self._answers
            self._harmless("logs", lambda: answers.step({"update": float(state.global_step), **told}))

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.close()

    def close(self, error: BaseException | None = None) -> Report | None:
        """The diagnosis; nothing is watched any more. The end of `train` calls it, unless that raises."""
        if self._watcher is not None:
            self._harmless("passes", self._watcher.passes.end)
            self._watcher = None
        for owner, name, stand_in in reversed(self._put_back):
            if vars(owner).get(name) is stand_in:
                delattr(owner, name)
        self._put_back.clear()
        if self._answers is not None:
            self._answers.close(self.broken)
            self._answers = None
        if self.dbg is not None:
            self.report = self.dbg.close(error)
            self.dbg = None
        return self.report

    # ── how ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _trainer(self) -> Any:
        """Who calls this callback: the library hands over everything but the trainer itself."""
        frame = sys._getframe(1)
        while frame is not None:
            found = frame.f_locals.get("self")
            handler = getattr(found, "callback_handler", None)
            if handler is not None and self in getattr(handler, "callbacks", ()):
                return found
            frame = frame.f_back  # type: ignore[assignment]
        return None

    def _begin(self, trainer: Any) -> None:
        assert self.dbg is not None
        self._answers = Answers(self.dbg.path)
        settings = settings_of(trainer)
        self._answers.settings(settings, [each for each in _METHODS if not callable(getattr(trainer, each, None))])
        self.dbg.declare(**settings)
        self._watcher = watcher = Watcher(trainer, self._answers, score_again=self._score_again)
        for name in _METHODS:
            original = getattr(trainer, name, None)
            if callable(original) and name not in vars(trainer):
                stand_in = self._stand_in(name, original, watcher)
                setattr(trainer, name, stand_in)
                self._put_back.append((trainer, name, stand_in))

    def _stand_in(self, name: str, original: Callable[..., Any], watcher: Watcher) -> Callable[..., Any]:
        """The same method, with a look before and a look after; what raises within a look is never seen outside."""
        before, around, after = watcher.looks[name]

        def stand_in(*args: Any, **kwargs: Any) -> Any:
            if before is not None:
                self._harmless(name, lambda: before(*args, **kwargs))
            if around is None or name in self.broken:
                result = original(*args, **kwargs)
            else:
                with around():
                    result = original(*args, **kwargs)
            if after is not None:
                self._harmless(name, lambda: after(result, *args, **kwargs))
            return result

        return stand_in

    def _harmless(self, what: str, look: Callable[[], Any]) -> None:
        if what in self.broken:
            return
        try:
            look()
        except Exception:
            self.broken[what] = traceback.format_exc()


def watch(trainer: Any, run: str = "trl", **options: Any) -> RLDebugCallback:
    """The same in one call: adds a callback to a trainer that is there already, and returns it."""
    if not callable(getattr(trainer, "add_callback", None)):
        raise TypeError(
            f"rldebug.integrations.trl.watch(...) got a {type(trainer).__name__}, expected a trainer of TRL"
        )
    callback = RLDebugCallback(run, **options)
    trainer.add_callback(callback)
    return callback
