"""A model of one's own does not use the attention mask."""

from __future__ import annotations

from tests.planted_trl.job import model

EXPECT = "NET511"


def plant(job):
    job.model = deaf


def deaf():
    from transformers import LlamaForCausalLM

    class Deaf(LlamaForCausalLM):
        def forward(self, input_ids=None, attention_mask=None, **kwargs):
            return super().forward(input_ids=input_ids, attention_mask=None, **kwargs)

    return Deaf(model().config)
