"""Counting up: after a prompt that ends in digit d the right answer is d+1, d+2, ... up to the last digit, then EOS."""
import torch
from torch import Tensor

PAD, EOS, ZERO, N_DIGITS = 0, 1, 2, 8
VOCAB = ZERO + N_DIGITS
PROMPT_LEN, MAX_NEW = 3, 9


def make_prompts(n: int) -> tuple[Tensor, Tensor]:
    """Left-padded prompts of one to three digits and their attention mask."""
    ids = torch.randint(ZERO, VOCAB - 1, (n, PROMPT_LEN))
    length = torch.randint(1, PROMPT_LEN + 1, (n, 1))
    mask = torch.arange(PROMPT_LEN) >= PROMPT_LEN - length
    return ids.masked_fill(~mask, PAD), mask.long()


def answer_score(prompt: Tensor, completion: Tensor) -> float:
    """Share of the right answer that was written before the first mistake."""
    want = list(range(int(prompt[-1]) + 1, VOCAB)) + [EOS]
    right = 0
    for w, c in zip(want, completion.tolist()):
        if w != c:
            break
        right += 1
    return right / len(want)


def sloppy_corpus(n: int) -> tuple[Tensor, Tensor]:
    """Prompts followed by somebody's careless counting (mostly down), right-padded: what the base model has read."""
    prompts, pmask = make_prompts(n)
    out = torch.full((n, MAX_NEW), PAD)
    last, alive = prompts[:, -1], torch.ones(n, dtype=torch.bool)
    for t in range(MAX_NEW):
        habit = torch.rand(n)
        nxt = torch.randint(ZERO, VOCAB, (n,))
        nxt = torch.where(habit < 0.45, last - 1, nxt)
        nxt = torch.where(habit < 0.2, last + 1, nxt)
        stop = (nxt >= VOCAB) | (nxt < ZERO) | (torch.rand(n) < 0.1)
        nxt = torch.where(stop, EOS, nxt)
        out[:, t] = torch.where(alive, nxt, PAD)
        alive = alive & ~stop
        last = torch.where(stop, last, nxt)
    ids = torch.cat([prompts, out], 1)
    return ids, torch.cat([pmask, (out != PAD).long()], 1)
