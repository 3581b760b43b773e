"""Group-relative policy optimisation of a tiny language model that has to learn to count."""
from __future__ import annotations

import copy
import math
import sys
from collections import defaultdict
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from model import CharLM
from task import EOS, MAX_NEW, PAD, PROMPT_LEN, VOCAB, answer_score, make_prompts, sloppy_corpus


@dataclass
class GRPOConfig:
    seed: int = 0
    sft_steps: int = 60
    iterations: int = 24
    prompts_per_iter: int = 16
    group_size: int = 8
    mini_batch_prompts: int = 8  # prompts per optimizer step
    micro_batch_size: int = 24  # completions per backward pass; the last one of a mini-batch may be smaller
    inner_epochs: int = 2
    temperature: float = 0.9
    clip_eps: float = 0.2
    kl_coef: float = 0.02
    reward_scaling: str = "group"  # "group", "batch" or "none"
    entropy_quantile: float = 0.2  # tokens below this quantile of entropy are not trained on
    mask_truncated: bool = True
    lr: float = 4e-3
    min_lr_ratio: float = 0.1
    max_grad_norm: float = 1.0


@dataclass
class Rollouts:
    ids: Tensor  # (N, prompt + new)
    attn: Tensor  # (N, prompt + new)
    mask: Tensor  # (N, new): written tokens, the EOS included
    logps: Tensor  # (N, new): under the sampler
    ref_logps: Tensor
    advantages: Tensor  # (N,)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, idx) -> Rollouts:
        return Rollouts(*(getattr(self, f)[idx] for f in self.__dataclass_fields__))


@torch.no_grad()
def generate(model: CharLM, prompts: Tensor, pmask: Tensor, temperature: float) -> tuple[Tensor, Tensor, Tensor]:
    """Sample completions. Returns them, their mask and their log-probs."""
    ids, attn = prompts, pmask
    alive = torch.ones(len(ids), dtype=torch.bool)
    logps, mask = [], []
    for _ in range(MAX_NEW):
        logits = model(ids, attn)[:, -1]
        logp = F.log_softmax(logits / temperature, -1)
        tok = torch.multinomial(logp.exp(), 1).squeeze(1)
        logps.append(logp.gather(1, tok[:, None]).squeeze(1) * alive)
        mask.append(alive.float())
        tok = torch.where(alive, tok, PAD)
        ids = torch.cat([ids, tok[:, None]], 1)
        attn = torch.cat([attn, alive.long()[:, None]], 1)
        alive = alive & (tok != EOS)
    return ids[:, PROMPT_LEN:], torch.stack(mask, 1), torch.stack(logps, 1)


def completion_logps(model: CharLM, ids: Tensor, attn: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probs of the written tokens and the entropy at each of their places, both (N, new)."""
    logits = model(ids, attn)[:, PROMPT_LEN - 1 : -1] / temperature
    logp_all = F.log_softmax(logits, -1)
    logps = logp_all.gather(2, ids[:, PROMPT_LEN:, None]).squeeze(2)
    entropy = -(logp_all.exp() * logp_all).sum(-1)
    return logps, entropy.detach()


def group_advantages(rewards: Tensor, group_size: int, scaling: str) -> Tensor:
    grouped = rewards.view(-1, group_size)
    adv = grouped - grouped.mean(1, keepdim=True)
    if scaling == "group":
        adv = adv / (grouped.std(1, keepdim=True) + 1e-4)
    elif scaling == "batch":
        adv = adv / (rewards.std() + 1e-4)
    return adv.view(-1)


def grpo_token_loss(logps: Tensor, old_logps: Tensor, ref_logps: Tensor, adv: Tensor, eps: float, kl_coef: float):
    ratio = (logps - old_logps).exp()
    adv = adv.unsqueeze(1)
    surrogate = torch.min(ratio * adv, ratio.clamp(1 - eps, 1 + eps) * adv)
    log_r = ref_logps - logps
    kl = log_r.exp() - log_r - 1
    return -surrogate + kl_coef * kl, kl.detach(), ratio.detach()


def cosine_with_floor(it: int, total: int, floor: float) -> float:
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * min(it / total, 1.0)))


class GRPOTrainer:
    def __init__(self, cfg: GRPOConfig):
        self.cfg = cfg
        self.policy = CharLM(VOCAB)
        self.pretrain()
        self.policy.eval()  # no dropout from here on: sampler, reference and trainer see the same function
        self.reference = copy.deepcopy(self.policy).requires_grad_(False)
        self.opt = torch.optim.AdamW(self.policy.parameters(), lr=cfg.lr, weight_decay=0.0, betas=(0.9, 0.95))

    def pretrain(self) -> None:
        opt = torch.optim.AdamW(self.policy.parameters(), lr=1e-2)
        self.policy.train()
        for _ in range(self.cfg.sft_steps):
            ids, attn = sloppy_corpus(64)
            logits = self.policy(ids, attn)[:, PROMPT_LEN - 1 : -1]
            loss = F.cross_entropy(logits.reshape(-1, VOCAB), ids[:, PROMPT_LEN:].reshape(-1), ignore_index=PAD)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()

    def collect(self) -> tuple[Rollouts, Tensor]:
        cfg = self.cfg
        prompts, pmask = make_prompts(cfg.prompts_per_iter)
        prompts, pmask = (x.repeat_interleave(cfg.group_size, 0) for x in (prompts, pmask))
        completions, mask, logps = generate(self.policy, prompts, pmask, cfg.temperature)
        rewards = torch.tensor([answer_score(p, c) for p, c in zip(prompts, completions)])
        ids = torch.cat([prompts, completions], 1)
        attn = torch.cat([pmask, mask.long()], 1)
        with torch.no_grad():
            ref_logps, _ = completion_logps(self.reference, ids, attn, cfg.temperature)
        adv = group_advantages(rewards, cfg.group_size, cfg.reward_scaling)
        if cfg.mask_truncated:
            finished = (completions == EOS).any(1)
            mask = mask * finished[:, None]
        return Rollouts(ids, attn, mask, logps, ref_logps, adv), rewards

    def update(self, data: Rollouts) -> dict[str, float]:
        cfg = self.cfg
        log: dict[str, float] = defaultdict(float)
        n_seen, n_steps = 0.0, 0
        per_step = cfg.mini_batch_prompts * cfg.group_size
        for _ in range(cfg.inner_epochs):
            for idx in torch.randperm(len(data)).split(per_step):
                mini = data[idx]
                n_tokens = mini.mask.sum().clamp_min(1.0)
                self.opt.zero_grad(set_to_none=True)
                for j in torch.arange(len(mini)).split(cfg.micro_batch_size):
                    mb = mini[j]
                    logps, entropy = completion_logps(self.policy, mb.ids, mb.attn, cfg.temperature)
                    per_token, kl, ratio = grpo_token_loss(
                        logps, mb.logps, mb.ref_logps, mb.advantages, cfg.clip_eps, cfg.kl_coef
                    )
                    keep = mb.mask
                    if cfg.entropy_quantile > 0 and keep.any():
                        threshold = entropy[keep.bool()].quantile(cfg.entropy_quantile)
                        keep = keep * (entropy >= threshold)
                    loss = (per_token * keep).sum() / n_tokens
                    loss.backward()
                    for name, x in (("kl", kl), ("ratio", ratio), ("entropy", entropy)):
                        log[name] += (x * mb.mask).sum().item()
                    n_seen += mb.mask.sum().item()
                norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), cfg.max_grad_norm)
                self.opt.step()
                log["grad_norm"] += norm.item()
                n_steps += 1
        return {k: v / (n_steps if k == "grad_norm" else max(n_seen, 1.0)) for k, v in log.items()}

    def fit(self) -> None:
        cfg = self.cfg
        for it in range(cfg.iterations):
            for g in self.opt.param_groups:
                g["lr"] = cfg.lr * cosine_with_floor(it, cfg.iterations, cfg.min_lr_ratio)
            data, rewards = self.collect()
            stats = self.update(data)
            if it % 4 == 3:
                length = data.attn[:, PROMPT_LEN:].sum(1).float().mean().item()
                shown = "  ".join(f"{k} {v:.4f}" for k, v in stats.items())
                print(f"[{it + 1:3d}] reward {rewards.mean().item():.3f}  length {length:.2f}  {shown}")

    def compare(self, n: int = 256) -> tuple[float, float]:
        """Scores on the same fresh prompts: the trained policy and the reference."""
        prompts, pmask = make_prompts(n)
        scores = []
        for model in (self.policy, self.reference):
            completions, _, _ = generate(model, prompts, pmask, self.cfg.temperature)
            scores.append(sum(answer_score(p, c) for p, c in zip(prompts, completions)) / n)
        return scores[0], scores[1]


def main(seed: int) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    trainer = GRPOTrainer(GRPOConfig(seed=seed))
    trainer.fit()
    ours, theirs = trainer.compare()
    print(f"reference answers score {theirs:.3f}")
    print(f"policy answers score {ours:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
