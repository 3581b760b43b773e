"""A tiny language model with a value for each place, that learns by PPO from rewards of tokens. One fault at a time."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

VOCABULARY, PROMPT, NEW, END, PAD = 8, 3, 6, 1, 0
GAMMA, LAMBDA = 1.0, 0.9


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 12)
        self.cell = nn.GRU(12, 16, batch_first=True)
        self.head, self.value = nn.Linear(16, VOCABULARY), nn.Linear(16, 1)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.cell(self.embed(ids))[0]
        return self.head(hidden), self.value(hidden)[..., 0]


@torch.no_grad()
def write(model: Model, prompts: Tensor) -> tuple[Tensor, Tensor]:
    ids, alive, mask = prompts, torch.ones(len(prompts), dtype=torch.bool), []
    for _ in range(NEW):
        scores = model(ids)[0][:, -1]
        token = torch.multinomial(torch.softmax(scores, -1), 1)[:, 0]
        mask.append(alive)
        ids = torch.cat([ids, torch.where(alive, token, PAD)[:, None]], 1)
        alive = alive & (token != END)
    return ids, torch.stack(mask, 1).float()


def scored(model: Model, ids: Tensor, fault: str) -> tuple[Tensor, Tensor, Tensor]:
    scores, values = model(ids)
    logs = torch.log_softmax(scores[:, PROMPT - 1 : -1], -1)
    kept = values[:, PROMPT:] if fault == "place" else values[:, PROMPT - 1 : -1]
    return logs.gather(2, ids[:, PROMPT:, None])[..., 0], kept, -(logs.exp() * logs).sum(-1)


def estimated(rewards: Tensor, values: Tensor, mask: Tensor, fault: str) -> Tensor:
    carried, found = torch.zeros(len(rewards)), torch.zeros_like(rewards)
    for step in reversed(range(NEW)):
        following = values[:, step + 1] if step + 1 < NEW and fault != "forgotten" else torch.zeros(len(rewards))
        error = rewards[:, step] + GAMMA * following - values[:, step]
        carried = error + GAMMA * LAMBDA * carried
        if fault != "after":
            carried = carried * mask[:, step]
        found[:, step] = carried
    return found


def program(fault: str = "", rounds: int = 4, batch: int = 40) -> None:
    torch.manual_seed(3)
    model = Model()
    reference = model if fault == "itself" else copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(rounds):
        prompts = torch.randint(2, VOCABULARY, (batch, PROMPT))
        ids, mask = write(model, prompts)
        answers = ids[:, PROMPT:]
        with torch.no_grad():
            old, values, _ = scored(model, ids, fault)
            behind, _, _ = scored(reference, ids, fault)
            score = ((answers == prompts[:, -1:]).float() * mask).sum(1) + 0.3 * (answers == END).any(1) + 0.2
            sign = 1.0 if fault == "paid" else -1.0
            rewards = sign * 0.05 * (old - behind) * mask
            last = torch.full((batch,), NEW - 1) if fault == "column" else mask.sum(1).long() - 1
            rewards[torch.arange(batch), last] += score
            if fault != "after":
                values = values * mask
            better = estimated(rewards, values, mask, fault)
            returns = better + (model(ids)[1][:, PROMPT:] if fault == "moved" else values)
            if fault == "rows":
                better = (better - better.mean(1, keepdim=True)) / (better.std(1, keepdim=True) + 1e-6)
            elif fault == "statistics":
                better = (better - better.mean()) / better.std(unbiased=False)
            elif fault != "plain":
                count = mask.sum()
                mean = (better * mask).sum() / count
                better = (better - mean) / ((((better - mean) ** 2) * mask).sum() / count).sqrt() * mask
        for chosen in (*torch.randperm(batch).chunk(2), *torch.randperm(batch).chunk(2)):
            logp, now, entropy = scored(model, ids[chosen], fault)
            kept = mask[chosen]
            ratio = (logp - old[chosen]).exp()
            gain = torch.min(ratio * better[chosen], ratio.clamp(0.8, 1.2) * better[chosen])
            gain = -gain if fault == "sign" else gain
            everywhere = torch.ones_like(kept) if fault == "everywhere" else kept
            loss = -(gain * kept).sum() / kept.sum()
            loss = loss + 0.5 * ((now - returns[chosen]) ** 2 * everywhere).sum() / everywhere.sum()
            loss = loss - 0.001 * (entropy * kept).sum() / kept.sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
