from __future__ import annotations

import copy

import numpy as np


class Callback:
    def bind(self, trainer) -> None:
        self.trainer = trainer

    def on_update(self, stats: dict) -> None:
        pass

    def on_training_end(self) -> None:
        pass


class CallbackList(Callback):
    def __init__(self, *callbacks: Callback):
        self.callbacks = callbacks

    def bind(self, trainer) -> None:
        for cb in self.callbacks:
            cb.bind(trainer)

    def on_update(self, stats: dict) -> None:
        for cb in self.callbacks:
            cb.on_update(stats)

    def on_training_end(self) -> None:
        for cb in self.callbacks:
            cb.on_training_end()


class ProgressPrinter(Callback):
    """Averages the statistics between two reports."""

    def __init__(self, every: int):
        self.every = every
        self.totals: dict[str, float] = {}
        self.count = 0

    def on_update(self, stats: dict) -> None:
        self.count += 1
        for name, number in stats.items():
            self.totals[name] = self.totals.get(name, 0.0) + number
        if self.count == self.every:
            means = "  ".join(f"{name} {total / self.count:8.4f}" for name, total in self.totals.items())
            finished = self.trainer.storage.finished_returns[-100:]
            recent = np.mean(finished) if finished else float("nan")
            print(f"update {self.trainer.gradient_steps:5d}  train return {recent:6.3f}  {means}")
            self.totals, self.count = {}, 0


class BestModelKeeper(Callback):
    """Evaluates from time to time and restores the best weights at the end."""

    def __init__(self, evaluator, every: int, episodes: int):
        self.evaluator, self.every, self.episodes = evaluator, every, episodes
        self.best_score = -np.inf
        self.best_weights = None

    def on_update(self, stats: dict) -> None:
        if self.trainer.gradient_steps % self.every:
            return
        score = self.evaluator(self.trainer.model, self.episodes)
        if score > self.best_score:
            self.best_score = score
            self.best_weights = copy.deepcopy(self.trainer.model.state_dict())

    def on_training_end(self) -> None:
        if self.best_weights is not None:
            self.trainer.model.load_state_dict(self.best_weights)
