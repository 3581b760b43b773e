"""Language models that learn, written as other people write them. One fault at a time.

`stepwise` keeps the state of its network from token to token, gives it all tokens but the last when it learns, and has
everything in the variables of one function. `listed` has an object for each answer, asks one prompt after the other,
and learns by REINFORCE.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

VOCABULARY, PROMPT, NEW, END, PAD = 8, 3, 6, 1, 0


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, 12)
        self.cell = nn.GRU(12, 16, batch_first=True)
        self.head, self.value = nn.Linear(16, VOCABULARY), nn.Linear(16, 1)

    def forward(self, ids: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        hidden, state = self.cell(self.embed(ids), state)
        return self.head(hidden), self.value(hidden)[..., 0], state


def scored(model: Model, ids: Tensor) -> tuple[Tensor, Tensor]:
    scores, values, _ = model(ids[:, :-1])
    logs = torch.log_softmax(scores, -1).gather(2, ids[:, 1:, None])[..., 0]
    return logs[:, PROMPT - 1 :], values[:, PROMPT - 1 :]


def mean(x: Tensor, mask: Tensor) -> Tensor:
    return (x * mask).sum() / mask.sum()


class Kept(NamedTuple):
    ids: Tensor
    mask: Tensor
    old: Tensor
    better: Tensor
    returns: Tensor


def stepwise(fault: str = "", rounds: int = 4, batch: int = 40) -> None:
    torch.manual_seed(3)
    model = Model()
    reference = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(rounds):
        prompts = torch.randint(2, VOCABULARY, (batch, PROMPT))
        with torch.no_grad():
            scores, _, state = model(prompts)
            done = torch.zeros(batch, dtype=torch.bool)
            tokens, masks = [], []
            for _ in range(NEW):
                token = torch.distributions.Categorical(logits=scores[:, -1]).sample()
                token = torch.where(done, PAD, token)
                tokens.append(token)
                masks.append(~done)
                done = done | (token == END)
                scores, _, state = model(token[:, None], state)
            answers, mask = torch.stack(tokens, 1), torch.stack(masks, 1).float()
            ids = torch.cat([prompts, answers], 1)
            old, values = scored(model, ids)
            behind, _ = scored(reference, ids)
            values = values * mask
            score = ((answers == prompts[:, -1:]).float() * mask).sum(1) + 0.3 * (answers == END).any(1) + 0.2
            rewards = -0.05 * (old - behind) * mask
            rewards[torch.arange(batch), mask.sum(1).long() - 1] += score
            better, carried = torch.zeros(batch, NEW), torch.zeros(batch)
            for step in reversed(range(NEW)):
                following = values[:, step + 1] if step + 1 < NEW else 0.0
                carried = (rewards[:, step] + following - values[:, step] + 0.9 * carried) * mask[:, step]
                better[:, step] = carried
            if fault == "backwards":
                better = -better
            returns = better + values
            better = (better - mean(better, mask)) / mean((better - mean(better, mask)) ** 2, mask).sqrt() * mask
            if fault == "early":
                returns = better + values
            kept = Kept(ids, mask, old, better, returns)
        for chosen in (*torch.randperm(batch).chunk(2), *torch.randperm(batch).chunk(2)):
            part = Kept(*(each[chosen] for each in kept))
            if fault == "index":
                part = part._replace(better=kept.better[: len(chosen)])
            if fault == "filler":
                part = part._replace(mask=torch.ones_like(part.mask), better=part.better - 0.1)
            logp, now = scored(model, part.ids)
            ratio = (logp - part.old).exp()
            gain = torch.min(ratio * part.better, ratio.clamp(0.8, 1.2) * part.better)
            loss = -mean(gain, part.mask) + 0.25 * mean((now - part.returns) ** 2, part.mask)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


@dataclass
class Answer:
    prompt: list[int]
    tokens: list[int] = field(default_factory=list)
    reward: float = 0.0
    weight: float = 0.0


@torch.no_grad()
def asked(model: Model, prompt: list[int], group: int) -> list[Answer]:
    found, ids = [Answer(prompt) for _ in range(group)], torch.tensor([prompt] * group)
    over = [False] * group
    for _ in range(NEW):
        drawn = torch.multinomial(model(ids)[0][:, -1].softmax(-1), 1)
        for place, token in enumerate(drawn[:, 0].tolist()):
            if not over[place]:
                found[place].tokens.append(token)
                over[place] = token == END
        ids = torch.cat([ids, drawn], 1)
    return found


def weigh(answers: list[Answer], fault: str) -> None:
    for each in answers:
        each.reward = sum(token == each.prompt[-1] for token in each.tokens) + 0.3 * (END in each.tokens) + 0.2
        each.reward -= 0.01 * len(each.tokens)
    total = sum(each.reward for each in answers)
    others = len(answers) - (fault != "part")
    weights = [each.reward - (total - each.reward) / others for each in answers]
    if fault == "mixed":
        weights = weights[1:] + weights[:1]
    for each, weight in zip(answers, weights, strict=True):
        each.weight = weight


def listed(fault: str = "", rounds: int = 5, group: int = 6) -> None:
    torch.manual_seed(2)
    order = random.Random(0)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(rounds):
        answers: list[Answer] = []
        for prompt in torch.randint(2, VOCABULARY, (8, PROMPT)).tolist():
            answers += asked(model, prompt, group)
            weigh(answers[-group:], fault)
        order.shuffle(answers)
        for begin in range(0, len(answers), 16):
            part = answers[begin : begin + 16]
            ids = torch.full((len(part), PROMPT + NEW), PAD)
            mask = torch.zeros(len(part), NEW)
            for row, each in enumerate(part):
                ids[row, : PROMPT + len(each.tokens)] = torch.tensor(each.prompt + each.tokens)
                mask[row, : len(each.tokens)] = 1.0
            logs = torch.log_softmax(model(ids)[0][:, PROMPT - 1 : -1], -1)
            logp = (logs.gather(2, ids[:, PROMPT:, None])[..., 0] * mask).sum(1)
            loss = -(torch.tensor([each.weight for each in part]) * logp).mean()
            optimizer.zero_grad()
            (-loss if fault == "up" else loss).backward()
            optimizer.step()


def dialogue(fault: str = "", rounds: int = 4, batch: int = 40) -> None:
    """Two turns: the model answers, is told something, and answers again. Both answers are learned, at once."""
    torch.manual_seed(4)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(rounds):
        asked_for = torch.randint(2, VOCABULARY, (batch, PROMPT))
        ids, mine = asked_for, torch.zeros(batch, PROMPT)
        with torch.no_grad():
            for turn in range(2):
                for _ in range(NEW):
                    token = torch.multinomial(model(ids)[0][:, -1].softmax(-1), 1)
                    ids, mine = torch.cat([ids, token], 1), torch.cat([mine, torch.ones(batch, 1)], 1)
                if turn == 0:
                    ids = torch.cat([ids, torch.randint(2, VOCABULARY, (batch, 4))], 1)
                    mine = torch.cat([mine, torch.zeros(batch, 4)], 1)
        score = ((ids == asked_for[:, -1:]).float() * mine).sum(1)
        weight = (score - score.mean()) / score.std()
        logs = torch.log_softmax(model(ids)[0][:, :-1], -1).gather(2, ids[:, 1:, None])[..., 0]
        mask = mine[:, 1:]
        if fault == "told":
            mask = torch.ones_like(mask)
            mask[:, : PROMPT - 1] = 0.0
        loss = -(weight[:, None] * logs * mask).sum() / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
