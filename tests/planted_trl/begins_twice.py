"""Prompts have the first token as text, and the tokenizer adds it again."""

from __future__ import annotations

from tests.planted_trl.job import tokenizer

EXPECT = "PRE510"


def plant(job):
    job.prompts = [f"<bos> {each}" for each in job.prompts]
    job.tokenizer = adds_the_first


def adds_the_first():
    from tokenizers.processors import TemplateProcessing

    made = tokenizer()
    made.backend_tokenizer.post_processor = TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 3)])
    return made
