"""A sound job for TRL: a language model of two small layers, a vocabulary of words, prompts and rewards made here."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WORDS = ("<pad>", "<eos>", "<unk>", "<bos>", *"0123456789", *"abcdef")


@dataclass
class Job:
    """What a user of TRL chooses; a planted bug changes some of it."""

    algorithm: str = "GRPO"
    trainer: Any = None  # a class derived from the library's own
    settings: dict[str, Any] = field(default_factory=dict)
    rewards: list[Callable[..., Any]] = field(default_factory=lambda: [likes_letters])
    prompts: list[Any] = field(default_factory=lambda: prompts())
    model: Callable[[], Any] = field(default_factory=lambda: model)
    tokenizer: Callable[[], Any] = field(default_factory=lambda: tokenizer)
    extra: dict[str, Any] = field(default_factory=dict)  # more arguments of the trainer
    watch: dict[str, Any] = field(default_factory=dict)  # options of the callback
    seed: int = 0

    def make(self, folder: Path) -> Any:
        """The trainer, not yet trained."""
        import trl
        from datasets import Dataset
        from transformers import set_seed

        set_seed(self.seed)
        made = self.model()
        with tempfile.TemporaryDirectory() as place:
            made.save_pretrained(place)
            policy = type(made).from_pretrained(place)  # the library loads the reference from where the policy was
            policy.config._name_or_path = place
            given: dict[str, Any] = dict(  # noqa: C408
                output_dir=str(folder), per_device_train_batch_size=16, num_generations=4, max_completion_length=10,
                max_steps=8, learning_rate=2e-3, report_to=[], logging_steps=1, save_strategy="no", use_cpu=True,
                bf16=False, disable_tqdm=True, seed=self.seed,
            )  # fmt: skip
            args = getattr(trl, f"{self.algorithm}Config")(**{**given, **self.settings})
            kind = self.trainer or getattr(trl, f"{self.algorithm}Trainer")
            data = Dataset.from_list([{"prompt": each} for each in self.prompts])
            return kind(
                model=policy,
                reward_funcs=self.rewards,
                args=args,
                train_dataset=data,
                processing_class=self.tokenizer(),
                **self.extra,
            )


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", bos_token="<bos>"
    )


def model(**changes: Any) -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    config: dict[str, Any] = dict(  # noqa: C408
        vocab_size=len(WORDS), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=3,
        initializer_range=0.2,
    )  # fmt: skip
    return LlamaForCausalLM(LlamaConfig(**{**config, **changes}))


def prompts(count: int = 24) -> list[str]:
    draw = random.Random(3)
    return [" ".join(draw.choices(WORDS[4:], k=2 + place % 4)) for place in range(count)]


def likes_letters(completions: list[str], **kwargs: Any) -> list[float]:
    """The share of letters among the words."""
    return [sum(word.isalpha() for word in each.split()) / max(1, len(each.split())) for each in completions]


def likes_a(completions: list[str], **kwargs: Any) -> list[float]:
    return [float("a" in each.split()) for each in completions]
