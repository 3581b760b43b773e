"""What TRL's trainers do with answers, looked at from within their own methods; see trl.py for who calls it.

Methods of the library are looked at by name, and none of them is promised to stay: each look says what it needs, and
whatever is not there is not measured.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rldebug.capture import session as sessions
from rldebug.capture.answers import Answers, Draws, fingerprint, generator_state, k3, mean_within, numbers, undisturbed
from rldebug.evidence.generations import mean
from rldebug.integrations.trl_passes import Passes, Written, keys, mask_of

_KEPT = (
    "loss_type", "beta", "num_iterations", "num_generations", "temperature", "top_p", "top_k", "min_p", "epsilon",
    "epsilon_high", "scale_rewards", "steps_per_generation", "gradient_accumulation_steps", "learning_rate",
    "max_completion_length", "mask_truncated_completions", "importance_sampling_level", "sync_ref_model",
    "normalize_advantages", "multi_objective_aggregation", "repetition_penalty", "use_vllm", "max_steps", "seed",
)  # fmt: skip
_ROWS = 512  # of a round


def settings_of(trainer: Any) -> dict[str, Any]:
    """What the trainer says of itself, as plain data."""
    args = trainer.args
    told = {name: getattr(args, name) for name in _KEPT if hasattr(args, name)}
    found: dict[str, Any] = {name: each for name, each in told.items() if _is_plain(each)}
    theirs = (each for each in type(trainer).__mro__ if each.__module__.partition(".")[0] == "trl")
    found["algorithm"] = next((each.__name__ for each in theirs), "")
    more = getattr(args, "generation_kwargs", None) or {}
    found["generation_kwargs"] = {name: each for name, each in more.items() if _is_plain(each)}
    found["rewards"] = [str(each) for each in getattr(trainer, "reward_func_names", ())]
    found["ends"] = [int(each) for each in getattr(trainer, "eos_token_ids", ())]
    policy, reference = getattr(trainer, "model", None), getattr(trainer, "ref_model", None)
    if isinstance(policy, nn.Module) and isinstance(reference, nn.Module):
        ours = {each.data_ptr() for each in policy.parameters()}
        found["shared"] = sum(each.data_ptr() in ours for each in reference.parameters())  # of the reference's own
    return found


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


Look = Callable[..., Any] | None


class Watcher:
    """What is known of the round under way, and the looks at each method: before, around and after it."""

    def __init__(self, trainer: Any, answers: Answers, *, score_again: bool = False) -> None:
        self.trainer, self.answers, self._again = trainer, answers, score_again
        tokenizer = getattr(trainer, "_tokenizer", None) or getattr(trainer, "processing_class", None)
        self._first, self._unknown = (getattr(tokenizer, f"{each}_token_id", None) for each in ("bos", "unk"))
        self._ends = set(getattr(trainer, "eos_token_ids", ()) or [getattr(tokenizer, "eos_token_id", None)])
        self._looking = False
        self._begin_round()
        self._before: tuple[Tensor, Tensor, int, NDArray[Any], int] | None = None  # answers scored an update ago
        self._update = 0
        self.passes = Passes(trainer, answers)
        self.looks: dict[str, tuple[Look, Look, Look]] = {
            "_generate_and_score_completions": (self._round_begins, None, self._round_ends),
            "_generate": (None, self._listening, self._written),
            "_generate_single_turn": (self._asked_for, None, None),
            "_calculate_rewards": (None, self._overhearing, self._rewarded),
            "_compute_loss": (self.passes.loss_begins, None, self.passes.loss_ends),
            "_get_per_token_logps_and_entropies": (None, None, self.passes.log_probs),
        }

    # ── a round ──

    def _begin_round(self) -> None:
        self._draws = Draws()
        self._texts: list[int] = []
        self._asked: list[Sequence[int]] | None = None
        self._answers: list[Sequence[int]] | None = None
        self._rewards: dict[str, NDArray[Any]] = {}
        self._heard: dict[str, tuple[list[Any], dict[str, Any]]] = {}
        self._facts: dict[str, Any] = {}

    def _round_begins(self, inputs: Any, *_: Any, **__: Any) -> None:
        self.passes.begin_round(None)
        self._begin_round()
        self._looking = bool(self.trainer.model.training) and self.answers.looks()
        if self._looking:
            self._texts = [fingerprint(repr(each.get("prompt"))) for each in inputs if isinstance(each, Mapping)]
            self._facts["generator"] = generator_state(self.trainer.accelerator.device)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        with self._draws.listening() if self._looking else nullcontext():
            yield

    def _asked_for(self, prompt_ids: Any, *_: Any, **__: Any) -> None:
        if self._looking and self._asked is None:
            self._asked = [list(map(int, each)) for each in prompt_ids]

    def _written(self, result: Any, *_: Any, **__: Any) -> None:
        if self._looking:
            self._answers = [list(map(int, each)) for each in result[1]]
            drawn = self._draws.any
            inside = self._asked is not None and not getattr(
                self.trainer, "use_vllm", False
            )  # else another process may draw
            self._facts["drawn"] = drawn if inside else None

    @contextmanager
    def _overhearing(self) -> Iterator[None]:
        """Reward functions are listened to: the trainer makes NaN of None, which is no mistake."""
        functions = getattr(self.trainer, "reward_funcs", None)
        if not self._looking or not isinstance(functions, list):
            yield
            return
        names = [str(each) for each in getattr(self.trainer, "reward_func_names", range(len(functions)))]
        plain = [callable(each) and not isinstance(each, nn.Module) and not _is_async(each) for each in functions]
        self.trainer.reward_funcs = [
            self._hearing(name, each) if is_plain else each
            for name, each, is_plain in zip(names, functions, plain, strict=True)
        ]
        try:
            yield
        finally:
            self.trainer.reward_funcs = functions

    def _hearing(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def heard(*args: Any, **kwargs: Any) -> Any:
            said = function(*args, **kwargs)
            if isinstance(said, (list, tuple)) and not args:
                self._heard[name] = (list(said), {**kwargs, "": function})
            return said

        return heard

    def _rewarded(self, result: Any, inputs: Any, *_: Any, **__: Any) -> None:
        if not self._looking or not isinstance(result, Tensor):
            return
        rows = numbers(result)[self._local(len(inputs))]
        names = [str(each) for each in getattr(self.trainer, "reward_func_names", range(rows.shape[1]))]
        weights = numbers(getattr(self.trainer, "reward_weights", np.ones(rows.shape[1])))
        unscored = np.asarray(np.isnan(rows).all(axis=1))
        self._rewards = {f"reward/{name}": rows[:, place] for place, name in enumerate(names)}
        self._rewards["reward"] = np.where(unscored, np.nan, np.nansum(rows * weights, axis=1))
        self._rewards["unscored"] = unscored
        wrong = np.isinf(rows).sum(1)
        for name, (said, _arguments) in self._heard.items():
            if name in names and len(said) == len(rows):
                wrong = wrong + np.array([each is not None and float(each) != float(each) for each in said])
        self._rewards["not_a_number"] = wrong
        if self._again:
            self._ask_again(len(rows))

    def _ask_again(self, count: int) -> None:
        """The same answers in another order: each must get what it got."""
        for name, (_said, arguments) in self._heard.items():
            function = arguments.pop("")
            turned = {k: v[::-1] if isinstance(v, list) and len(v) == count else v for k, v in arguments.items()}
            turned |= {each: _to_nobody for each in ("log_extra", "log_metric") if each in turned}
            with _unheard(), undisturbed(self.trainer.model):
                again = function(**turned)
            told = [float("nan") if each is None else float(each) for each in again]
            self._rewards[f"again/{name}"] = np.array(told)[::-1]

    def _round_ends(self, result: Any, *_: Any, **__: Any) -> None:
        if not self._looking or not isinstance(result, dict):
            return
        prompts, answers, mask = result["prompt_ids"], result["completion_ids"], mask_of(result)
        count = min(len(prompts), _ROWS)
        columns = self._told_of(result, count)
        for name, values in self._rewards.items():
            columns[name] = values
        given = numbers(result["advantages"])
        columns["advantage"] = given if given.ndim == 1 else mean_within(given, numbers(mask) > 0)
        self._update = int(self.trainer.state.global_step)
        rows: dict[int, list[int]] = {}
        for place, key in enumerate(keys(prompts, answers)):
            rows.setdefault(key, []).append(place)
        said, cut = self._sampler(result)
        self.passes.begin_round(Written(rows, np.asarray(columns["advantage"]), said, cut, self._update))
        if int(getattr(self.trainer.accelerator, "num_processes", 1)) == 1 and "pixel_values" not in result:
            with _unheard(), undisturbed(self.trainer.model):
                self._score_apart(result, columns)
            with _unheard(), undisturbed(self.trainer.model, evaluating=False):
                self._score_as_trained()
        self.answers.round(self._update, {name: each[:count] for name, each in columns.items()}, self._facts)

    def _told_of(self, result: Mapping[str, Any], count: int) -> dict[str, Any]:
        """What can be read off the tokens."""
        shown, filled = numbers(result["prompt_mask"]) > 0, numbers(result["completion_mask"]) > 0
        learned = numbers(mask_of(result)) > 0
        rows = len(shown)
        prompts = [row[keep].tolist() for row, keep in zip(_whole(result["prompt_ids"]), shown, strict=True)]
        answers = self._answers
        if answers is None or len(answers) != rows:
            answers = [row[keep].tolist() for row, keep in zip(_whole(result["completion_ids"]), filled, strict=True)]
        ended = [bool(each) and each[-1] in self._ends for each in answers]
        size = int(getattr(self.trainer, "num_generations", 1) or 1)
        start = int(getattr(self.trainer.accelerator, "process_index", 0)) * rows
        last = [
            learned[i, len(each) - 1] if 0 < len(each) <= learned.shape[1] else True for i, each in enumerate(answers)
        ]
        columns: dict[str, Any] = {
            "group": (start + np.arange(rows)) // size,
            "prompt": [fingerprint(each) for each in prompts],
            "answer": [fingerprint(each) for each in answers],
            "prompt_tokens": [len(each) for each in prompts],
            "tokens": [len(each) for each in answers],
            "learned": learned.sum(1),
            "ended": ended,
            "end_inside": [any(token in self._ends for token in each[:-1]) for each in answers],
            "end_left_out": [end and bool(learned[i].any()) and not last[i] for i, end in enumerate(ended)],
            "repeats_prompt": [
                len(ours) > 1 and list(each[: len(ours)]) == ours for ours, each in zip(prompts, answers, strict=True)
            ],
            "begins_twice": [
                self._first is not None and each[:2] == [self._first, self._first] for each in prompts
            ],
            "unknown": [each.count(self._unknown) / max(1, len(each)) for each in prompts],
        }  # fmt: skip
        if len(self._texts) == rows:
            columns["text"] = self._texts
        if self._asked is not None and len(self._asked) == rows:
            columns["asked"] = [fingerprint(each) for each in self._asked]
        return {name: np.asarray(each) for name, each in columns.items()}

    def _sampler(self, result: Mapping[str, Any]) -> tuple[NDArray[np.float64] | None, NDArray[np.bool_]]:
        """Log-probs as the sampler says, or as they were drawn; and whose distributions were cut."""
        shape = tuple(result["completion_ids"].shape)
        uncut = np.zeros(shape[0], dtype=bool)
        handed = result.get("sampling_per_token_logps")
        if isinstance(handed, Tensor) and tuple(handed.shape) == shape:
            return np.where(numbers(result["completion_mask"]) > 0, numbers(handed), np.nan), uncut
        drawn = self._draws.of(self._answers) if self._answers is not None else None
        if drawn is None:
            return None, uncut
        said = np.full(shape, np.nan)
        for row, values in enumerate(drawn[0]):
            said[row, : len(values)] = values[: shape[1]]
        return said, np.array(drawn[1])

    def _score_as_trained(self) -> None:
        """The same answers once more, in the mode in which they are trained: dropout says something else."""
        if self._before is not None:
            ids, shown, width, evaluated, _ = self._before
            score = type(self.trainer)._get_per_token_logps_and_entropies
            trained = numbers(score(self.trainer, self.trainer.model, ids, shown, width)[0])
            self._facts["noise"] = mean(mean_within(np.abs(trained - evaluated), numbers(shown)[:, -width:] > 0))

    def _score_apart(self, result: Mapping[str, Any], columns: dict[str, Any]) -> None:
        """One answer with much filler, in the batch and alone; and those of the last look again, after the update."""
        score, model = type(self.trainer)._get_per_token_logps_and_entropies, self.trainer.model
        shown = torch.cat([result["prompt_mask"], result["completion_mask"]], 1)
        ids = torch.cat([result["prompt_ids"], result["completion_ids"]], 1)
        width = result["completion_ids"].shape[1]
        if self._before is not None:
            old_ids, old_shown, old_width, before, update = self._before
            after = numbers(score(self.trainer, model, old_ids, old_shown, old_width)[0])
            kept = numbers(old_shown)[:, -old_width:] > 0
            self._facts["moved"] = mean(mean_within(k3(before, after), kept))
            self._facts["moved_updates"] = self._update - update
        used = shown.sum(1)
        written = result["completion_mask"].sum(1)
        worth = torch.where(written > 1, used, used.max() + 1)
        rows = [int(worth.argmin()), int(used.argmax())]
        both_ids, both_shown = ids[rows], shown[rows]
        together = numbers(score(self.trainer, model, both_ids, both_shown, width)[0])
        self._before = (both_ids, both_shown, width, together, self._update)
        own, count = both_shown[0] > 0, int(written[rows[0]])
        if bool(own.all()) or count < 2:
            return
        alone_ids = both_ids[:1, own]
        alone = numbers(score(self.trainer, model, alone_ids, torch.ones_like(alone_ids), count)[0])
        places = numbers(both_shown[0])[-width:] > 0
        for name in ("alone", "alone_model"):
            columns[name] = np.full(len(ids), np.nan)
        columns["alone"][rows[0]] = np.abs(together[0][places] - alone[0]).mean()
        inside = _log_softmax(model, both_ids, both_shown)[0][own][-count - 1 : -1]
        apart = _log_softmax(model, alone_ids, torch.ones_like(alone_ids))[0][-count - 1 : -1]
        taken = alone_ids[0, -count:, None]
        columns["alone_model"][rows[0]] = float((inside - apart).gather(1, taken).abs().mean())

    def _local(self, count: int) -> slice:
        start = int(getattr(self.trainer.accelerator, "process_index", 0)) * count
        return slice(start, start + count)


def _whole(ids: Tensor) -> NDArray[np.int64]:
    return np.asarray(ids.cpu().numpy(), dtype=np.int64)


def _log_softmax(model: nn.Module, ids: Tensor, shown: Tensor) -> Tensor:
    return torch.log_softmax(model(input_ids=ids, attention_mask=shown).logits.float(), -1)


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _to_nobody(*_: Any, **__: Any) -> None:
    """In place of what a reward function logs."""


@contextmanager
def _unheard() -> Iterator[None]:
    """What is done here is no part of the program."""
    session = sessions.current()
    with session.switch.asleep() if session is not None else nullcontext():
        yield
