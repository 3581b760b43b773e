"""Answers of a sound training of a language model, in numbers, and ways to spoil them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from rldebug import catalogue
from rldebug.evidence.generations import Generations, Pass, Round
from rldebug.finding import Finding
from rldebug.rule import NotEnough

SIZE, GROUPS = 4, 4


def sound(rounds: int = 12, seed: int = 0, **settings: Any) -> Generations:
    """Twelve rounds of four answers to four prompts, one pass over each, nothing wrong."""
    draw = np.random.default_rng(seed)
    made = [_round(draw, number) for number in range(1, rounds + 1)]
    told = {"algorithm": "GRPOTrainer", "num_generations": SIZE, "max_completion_length": 32, "beta": 0.04, **settings}
    steps = tuple({"update": float(each.update), "kl": 0.01} for each in made)
    return Generations(told, tuple(made), tuple(_pass(draw, each) for each in made), steps)


def _round(draw: np.random.Generator, number: int) -> Round:
    count = SIZE * GROUPS
    group = np.repeat(np.arange(GROUPS), SIZE)
    reward = draw.normal(size=count)
    centred = (reward.reshape(GROUPS, SIZE) - reward.reshape(GROUPS, SIZE).mean(1, keepdims=True)).ravel()
    prompt = number * 100 + group
    alone = np.full(count, np.nan)
    alone[draw.integers(count)] = 1e-6
    tokens = draw.integers(4, 20, size=count)
    columns = {
        "group": group, "prompt": prompt, "text": prompt + 7, "asked": prompt,
        "answer": draw.integers(10**9, size=count),
        "prompt_tokens": 3 + group, "tokens": tokens, "learned": tokens, "ended": np.ones(count, dtype=int),
        "end_inside": np.zeros(count, dtype=int), "end_left_out": np.zeros(count, dtype=int),
        "repeats_prompt": np.zeros(count, dtype=int), "begins_twice": np.zeros(count, dtype=int),
        "unknown": np.zeros(count), "reward": reward, "reward/score": reward, "unscored": np.zeros(count, dtype=int),
        "not_a_number": np.zeros(count, dtype=int), "advantage": centred, "alone": alone, "alone_model": alone,
    }  # fmt: skip
    facts = {"generator": int(draw.integers(10**9)), "drawn": True, "moved": 1e-3, "moved_updates": 1}
    return Round(number, number - 1, columns, facts)


def _pass(draw: np.random.Generator, of: Round) -> Pass:
    order = draw.permutation(len(of))
    advantage = of.column("advantage")[order]
    same = np.full(len(of), 1e-7)
    columns = {
        "advantage": advantage, "given": advantage, "entropy": np.full(len(of), 1.5), "log_ratio": same, "k3": same,
        "clipped": np.zeros(len(of)), "sampled": same, "sampled_k3": same, "shifted_k3": np.full(len(of), 2.0),
        "renormalised": np.zeros(len(of), dtype=int), "reference": np.full(len(of), 0.01 * of.number),
        "reference_k3": np.full(len(of), 1e-3), "push": 0.1 * advantage, "force": np.abs(0.1 * advantage),
        "outside": np.zeros(len(of)), "last": np.ones(len(of)), "hold": np.full(len(of), 0.9),
    }  # fmt: skip
    return Pass(of.number, of.update, 0, columns, {"loss": 0.1, "old": True})


Column = Any  # one value for all, or a function of the round or pass


def rounds(evidence: Generations, **columns: Column) -> Generations:
    """With these columns in every round; `rounds(evidence, **{"reward/score": …})`."""
    return dataclasses.replace(evidence, rounds=tuple(_with(each, columns) for each in evidence.rounds))


def passes(evidence: Generations, *, age: int = 0, old: bool = True, **columns: Column) -> Generations:
    made = (dataclasses.replace(each, age=age, facts={**each.facts, "old": old}) for each in evidence.passes)
    return dataclasses.replace(evidence, passes=tuple(_with(each, columns) for each in made))


def facts(evidence: Generations, **told: Any) -> Generations:
    def of(each: Round) -> dict[str, Any]:
        return {name: value(each) if isinstance(value, Callable) else value for name, value in told.items()}

    changed = tuple(dataclasses.replace(each, facts={**each.facts, **of(each)}) for each in evidence.rounds)
    return dataclasses.replace(evidence, rounds=changed)


def _with(each: Any, columns: dict[str, Column]) -> Any:
    made = {name: value(each) if callable(value) else value for name, value in columns.items()}
    whole = {name: np.full(len(each), value) if np.ndim(value) == 0 else value for name, value in made.items()}
    return dataclasses.replace(each, columns={**each.columns, **whole})


def found(code: str, evidence: Generations, **thresholds: float) -> list[Finding]:
    rule = catalogue.find(code)(**thresholds)
    try:
        return list(rule.check(evidence))
    except NotEnough:
        return []


def lacking(code: str, evidence: Generations) -> bool:
    """Whether the rule says that there is not enough."""
    try:
        list(catalogue.find(code)().check(evidence))
    except NotEnough:
        return True
    return False
