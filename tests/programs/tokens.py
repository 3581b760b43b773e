"""A tiny language model that learns by group-relative rewards, with one fault at a time."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

VOCABULARY, PROMPT, NEW, END, PAD = 7, 3, 5, 1, 0


class Model(nn.Module):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 12)
        self.cell = nn.GRU(12, 16, batch_first=True)
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(16, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.drop(self.cell(self.embed(ids))[0]))


@torch.no_grad()
def write(model: Model, prompts: Tensor, temperature: float, raw: bool) -> tuple[Tensor, Tensor, Tensor]:
    ids, alive, logps, mask = prompts, torch.ones(len(prompts), dtype=torch.bool), [], []
    for _ in range(NEW):
        scores = model(ids)[:, -1]
        dist = torch.distributions.Categorical(logits=scores / temperature)
        token = dist.sample()
        kept = torch.log_softmax(scores, -1).gather(1, token[:, None])[:, 0] if raw else dist.log_prob(token)
        logps.append(kept)
        mask.append(alive)
        ids = torch.cat([ids, torch.where(alive, token, PAD)[:, None]], 1)
        alive = alive & (token != END)
    return ids, torch.stack(mask, 1).float(), torch.stack(logps, 1)


def advantages(rewards: Tensor, group: int, fault: str) -> Tensor:
    table = rewards.view(-1, group)
    if fault == "axis":
        return ((table - table.mean(0)) / (table.std(0) + 1e-4)).view(-1)
    if fault == "first":
        return ((table - table[:, :1]) / (table.std(1, keepdim=True) + 1e-4)).view(-1)
    if fault == "mean":
        return (table / (table.std(1, keepdim=True) + 1e-4)).view(-1)
    found = ((table - table.mean(1, keepdim=True)) / (table.std(1, keepdim=True) + 1e-4)).view(-1)
    if fault == "shuffled":
        return found[torch.randperm(len(found), generator=torch.Generator().manual_seed(5))]
    return found


def program(fault: str = "", rounds: int = 4, group: int = 6, temperature: float = 0.8) -> None:
    torch.manual_seed(1)
    model = Model(0.3 if fault == "dropout" else 0.0)
    reference: Any = model if fault == "itself" else copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    learned = 1.0 if fault == "temperature" else temperature
    group = 24 if fault == "shuffled" else group
    for _ in range(rounds):
        if fault == "reseeded":
            torch.manual_seed(7)
        own = torch.Generator().manual_seed(3) if fault == "one set of prompts" else None
        prompts = torch.randint(2, VOCABULARY, (8, PROMPT), generator=own).repeat_interleave(group, 0)
        model.eval()
        ids, mask, old = write(model, prompts, temperature, fault == "raw")
        answers = ids[:, PROMPT:]
        rewards = ((answers == prompts[:, -1:]).float() * mask).sum(1) + 0.1 * (answers == END).any(1).float() + 0.05
        weights = advantages(rewards, group, fault)[:, None]
        model.train(fault == "dropout")
        if fault == "filler":
            mask = torch.ones_like(mask)
        if fault == "end":
            mask = mask * (answers != END)
        for _ in range(2):
            first = PROMPT if fault == "place" else PROMPT - 1
            scores = model(ids)[:, first : first + NEW] if fault != "place" else model(ids)[:, PROMPT:]
            if fault == "unlike":
                scores = model(torch.cat([torch.full((len(ids), 1), 5), ids], 1))[:, PROMPT : PROMPT + NEW]
            logp = torch.log_softmax(scores / learned, -1).gather(2, answers[:, :, None])[:, :, 0]
            with torch.no_grad():
                behind = reference(ids)[:, PROMPT - 1 : -1] / learned
                behind = torch.log_softmax(behind, -1).gather(2, answers[:, :, None])[:, :, 0]
            if fault == "place":
                old = logp.detach()
            ratio = (logp - old).exp()
            pull = (behind - logp).exp() - (behind - logp) - 1 if fault != "plain" else logp - behind
            hold = -0.02 if fault == "repelled" else 0.02
            loss = (-torch.min(ratio * weights, ratio.clamp(0.8, 1.2) * weights) + hold * pull) * mask
            loss = loss.sum() / mask.sum()
            if fault == "prompt":
                all_logp = torch.log_softmax(model(ids)[:, :-1] / learned, -1).gather(2, ids[:, 1:, None])[:, :, 0]
                loss = -(all_logp[:, : PROMPT + 1] * weights).mean() - (all_logp[:, PROMPT + 1 :] * weights).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
