#!/usr/bin/env python
# PPO fine-tuning of a small recurrent language model, two turns per dialogue.
#
# A dialogue is:  query (2..4 symbols) | turn 1 (TURN symbols) | a hint from the user (1 symbol) | turn 2 (<= TURN symbols, may stop early)
# The hint names the class of symbols the user wants in turn 2; in turn 1 the class of the query's last symbol is wanted.
# Classes are symbol % 3.  The "preference score" is the share of places filled by wanted symbols, given at the end.

import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, STOP = 0, 1
FIRST, LAST = 2, 13            # ordinary symbols
V = LAST + 1
QLEN, TURN = 4, 4
RLEN = TURN + 1 + TURN         # response part: turn 1, hint, turn 2
HINT_AT = TURN                 # place of the hint in the response part


def new_queries(n):
    q = torch.randint(FIRST, V, (n, QLEN))
    skip = torch.randint(0, QLEN - 1, (n, 1))
    return torch.where(torch.arange(QLEN) >= skip, q, PAD)


def preference_score(q, resp):
    """(n,) in [0, 1]: wanted symbols over the places of both turns; places after STOP are not filled."""
    ordinary = resp >= FIRST
    first = (resp[:, :TURN] % 3 == q[:, -1:] % 3) & ordinary[:, :TURN]
    hint = resp[:, HINT_AT : HINT_AT + 1]
    second = (resp[:, HINT_AT + 1 :] % 3 == hint % 3) & ordinary[:, HINT_AT + 1 :]
    return (first.sum(1) + second.sum(1)).float() / (2 * TURN)


class LM(nn.Module):
    """GRU over the symbols; logits for the next symbol at every place."""

    def __init__(self, d=48):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, V)

    def hidden(self, ids, state=None):
        h, state = self.gru(self.emb(ids), state)
        return h, state

    def forward(self, ids):
        return self.out(self.hidden(ids)[0])


class Critic(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.trunk = LM(d)
        self.trunk.out = nn.Identity()
        self.score = nn.Sequential(nn.Linear(d, d), nn.Tanh(), nn.Linear(d, 1))

    def forward(self, ids):
        return self.score(self.trunk(ids)).squeeze(-1)


def tempered(logits, temp):
    logits = logits / temp
    blocked = torch.zeros(V)
    blocked[PAD] = float("-inf")   # nobody may write a pad
    return logits + blocked


@torch.no_grad()
def talk(lm, q, temp):
    """Both turns. Returns response (n, RLEN), written (n, RLEN): 1 where the model wrote the symbol."""
    n = len(q)
    resp = torch.full((n, RLEN), PAD)
    written = torch.zeros(n, RLEN)
    h, state = lm.hidden(q)
    h = h[:, -1]
    going = torch.ones(n, dtype=torch.bool)
    for t in range(RLEN):
        if t == HINT_AT:
            tok = torch.randint(FIRST, V, (n,))
            going[:] = True
        else:
            p = F.softmax(tempered(lm.out(h), temp), -1)
            tok = torch.multinomial(p, 1)[:, 0]
            tok = torch.where(going, tok, PAD)
            written[:, t] = going.float()
            going = going & (tok != STOP)
        resp[:, t] = tok
        h, state = lm.hidden(tok[:, None], state)
        h = h[:, -1]
    return resp, written


def response_logprobs(lm, q, resp, temp):
    logits = tempered(lm(torch.cat([q, resp], 1))[:, QLEN - 1 : -1], temp)
    logp = F.log_softmax(logits, -1)
    ent = torch.distributions.Categorical(logits=logits).entropy()
    safe = resp.clamp_min(STOP)    # pads are masked by the caller
    return logp.gather(-1, safe.unsqueeze(-1)).squeeze(-1), ent


def kl_terms(logp, ref_logp, form):
    diff = logp - ref_logp
    if form == "kl":
        return diff
    if form == "abs":
        return diff.abs()
    return 0.5 * diff ** 2         # "mse"


def token_rewards(score, kls, written, coef):
    """KL price at every written place, the preference score at the last written one."""
    rewards = -coef * kls * written
    last = (written * torch.arange(1, RLEN + 1)).argmax(1)
    rewards[torch.arange(len(score)), last] += score
    return rewards


def gae_over_tokens(rewards, values, written, gamma, lam):
    """Advantages at written places; places the model did not write are stepped over."""
    n = len(rewards)
    adv = torch.zeros_like(rewards)
    carry, next_value = torch.zeros(n), torch.zeros(n)
    for t in reversed(range(RLEN)):
        m = written[:, t]
        delta = rewards[:, t] + gamma * next_value - values[:, t]
        new = delta + gamma * lam * carry
        adv[:, t] = new * m
        carry = torch.where(m > 0, new, carry)
        next_value = torch.where(m > 0, values[:, t], next_value)
    return adv, (adv + values) * written


def masked_mean(x, m):
    return (x * m).sum() / m.sum().clamp(min=1)


def masked_whiten(x, m):
    mu = masked_mean(x, m)
    var = masked_mean((x - mu) ** 2, m)
    return (x - mu) * torch.rsqrt(var + 1e-8) * m


def values_in_chunks(critic, seq, written, chunk):
    """Critic values of the response places. Long rows first, so that chunks hold rows of a kind."""
    order = torch.argsort(written.sum(1), descending=True)
    vals = torch.cat([critic(seq[i])[:, QLEN - 1 : -1] for i in order.split(chunk)])
    back = torch.argsort(order)
    return vals[back] * written


def ppo_losses(logp, old_logp, adv, v, old_v, ret, m, clip, vclip):
    ratio = torch.exp(logp - old_logp)
    pg = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 1 - clip, 1 + clip))
    v_clipped = old_v + (v - old_v).clamp(-vclip, vclip)
    vf = torch.max((v - ret) ** 2, (v_clipped - ret) ** 2)
    return masked_mean(pg, m), 0.5 * masked_mean(vf, m)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--rounds", type=int, default=22)
    ap.add_argument("--dialogues", type=int, default=128)
    ap.add_argument("--minibatch", type=int, default=64)
    ap.add_argument("--ppo-epochs", type=int, default=3)
    ap.add_argument("--lr", type=float, default=6e-3)
    ap.add_argument("--critic-lr", type=float, default=6e-3)
    ap.add_argument("--temp", type=float, default=0.8)
    ap.add_argument("--kl-coef", type=float, default=0.02)
    ap.add_argument("--kl-form", choices=("kl", "abs", "mse"), default="kl")
    ap.add_argument("--gamma", type=float, default=1.0)
    ap.add_argument("--lam", type=float, default=0.95)
    ap.add_argument("--clip", type=float, default=0.2)
    ap.add_argument("--vclip", type=float, default=0.2)
    ap.add_argument("--vf-coef", type=float, default=1.0)
    a = ap.parse_args()

    torch.set_num_threads(1)
    random.seed(a.seed); np.random.seed(a.seed); torch.manual_seed(a.seed)

    policy, ref, critic = LM(), LM(), Critic()
    ref.load_state_dict(policy.state_dict())
    for p in ref.parameters():
        p.requires_grad_(False)
    optim = torch.optim.Adam(
        [{"params": policy.parameters(), "lr": a.lr}, {"params": critic.parameters(), "lr": a.critic_lr}], eps=1e-5
    )

    for rnd in range(a.rounds):
        # ---- talk ----
        q = new_queries(a.dialogues)
        resp, written = talk(policy, q, a.temp)
        seq = torch.cat([q, resp], 1)
        score = preference_score(q, resp)
        with torch.no_grad():
            old_logp, _ = response_logprobs(policy, q, resp, a.temp)
            ref_logp, _ = response_logprobs(ref, q, resp, a.temp)
            old_v = values_in_chunks(critic, seq, written, 32)
            kls = kl_terms(old_logp, ref_logp, a.kl_form)
            rewards = token_rewards(score, kls, written, a.kl_coef)
            adv, ret = gae_over_tokens(rewards, old_v, written, a.gamma, a.lam)
            adv = masked_whiten(adv, written)

        # ---- learn ----
        stats = []
        for _ in range(a.ppo_epochs):
            for i in torch.randperm(a.dialogues).split(a.minibatch):
                m = written[i]
                logp, ent = response_logprobs(policy, q[i], resp[i], a.temp)
                v = critic(seq[i])[:, QLEN - 1 : -1]
                pg, vf = ppo_losses(logp, old_logp[i], adv[i], v, old_v[i], ret[i], m, a.clip, a.vclip)
                loss = pg + a.vf_coef * vf
                optim.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*policy.parameters(), *critic.parameters()], 1.0)
                optim.step()
                with torch.no_grad():
                    stats.append([pg.item(), vf.item(), masked_mean(ent, m).item(), masked_mean(old_logp[i] - logp, m).item()])

        if rnd % 4 == 3:
            pg, vf, ent, drift = np.mean(stats, 0)
            kl_seen = (kls * written).sum(1).mean().item()
            print("round %3d | score %.3f | kl to ref %.3f | pg %+.4f vf %.4f ent %.3f drift %+.4f"
                  % (rnd + 1, score.mean().item(), kl_seen, pg, vf, ent, drift))

    q = new_queries(400)
    print("ref score on fresh queries: %.3f" % preference_score(q, talk(ref, q, a.temp)[0]).mean().item())
    print("final score on fresh queries: %.3f" % preference_score(q, talk(policy, q, a.temp)[0]).mean().item())


if __name__ == "__main__":
    main()
