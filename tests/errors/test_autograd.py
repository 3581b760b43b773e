"""Errors of autograd and of optimizers: which tensor, which line."""

from __future__ import annotations

import copy
from collections import deque, namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.distributions import Categorical, Normal

from tests.errors.cases import cases_in, check, raises

Row = namedtuple("Row", "obs logp")


def mlp(inputs=4, outputs=2):
    return nn.Sequential(nn.Linear(inputs, 8), nn.Tanh(), nn.Linear(8, outputs))


# ── M001: backward a second time ────────────────────────────────────────────────────────────────────────────────────


@raises("M001 list of log-probs", "GRA401", "chances", "policy", "collected", "anew from the network")
def log_probs_in_a_list():
    policy = mlp()
    chances = []
    for _ in range(5):
        pi = Categorical(logits=policy(torch.randn(4)))
        chance = pi.log_prob(pi.sample())  # here
        chances.append(chance)
    for _ in range(3):
        loss = -torch.stack(chances).mean()
        loss.backward()


@raises("M001 values in a buffer", "GRA401", "store.v", "collected", "critic", "no_grad()")
def values_in_a_buffer():
    class Store:
        def __init__(self):
            self.v = []
            self.obs = []

        def put(self, obs, v):
            self.obs.append(obs)
            self.v.append(v)

    critic, store = mlp(outputs=1), Store()
    for _ in range(6):
        obs = torch.randn(4)
        store.put(obs, critic(obs).squeeze())  # here
    for _ in range(4):
        now = critic(torch.stack(store.obs)).squeeze(-1)
        old = torch.stack(store.v)
        clipped = old + (now - old).clamp(-0.2, 0.2)
        error = (clipped - torch.ones(6)).square().mean()
        error.backward()


@raises("M001 comprehension", "GRA401", "kept", "computed once", "net", "into the loop")
def filled_by_a_comprehension():
    net = mlp()
    rows = torch.randn(6, 4)
    kept = [net(row).log_softmax(-1)[0] for row in rows]  # here
    for _ in range(2):
        (-sum(kept) / 6).backward()


@raises("M001 collected by a function", "GRA401", "lp", "actor", "collected")
def collected_by_a_function():
    def rollout(actor):
        found = []
        for _ in range(4):
            dist = Normal(actor(torch.randn(4)), 1.0)
            found.append(dist.log_prob(dist.sample()).sum())  # here
        return found, torch.ones(4)

    actor = mlp()
    optimizer = torch.optim.Adam(actor.parameters())
    lp, returns = rollout(actor)
    for _ in range(2):
        optimizer.zero_grad()
        objective = -(torch.stack(lp) * returns).mean()
        objective.backward()


@raises("M001 rows in a deque", "GRA401", "memory", "collected", "q")
def rows_in_a_deque():
    q, memory = mlp(), deque(maxlen=100)
    for _ in range(8):
        memory.append((torch.randn(4), q(torch.randn(4)).max()))  # here
    for _ in range(2):
        predicted = q(torch.stack([row[0] for row in memory])).max(-1).values
        target = torch.stack([row[1] for row in memory])
        F.mse_loss(predicted, target).backward()


@raises("M001 tensor written at its places", "GRA401", "written", "collected", "is data", "no_grad()")
def tensor_written_at_its_places():
    policy, seen = mlp(), torch.randn(8, 4)
    written = torch.zeros(8)
    for t in range(8):
        dist = Categorical(logits=policy(seen[t]))
        written[t] = dist.log_prob(dist.sample())  # here
    for _ in range(3):
        now = Categorical(logits=policy(seen)).log_prob(torch.zeros(8))
        loss = -(now - written).exp().mean()
        loss.backward()


@raises("M001 minibatches", "GRA401", "data['logp']", "collected", "is data")
def minibatches_of_a_generator():
    actor = mlp()
    optimizer = torch.optim.Adam(actor.parameters())

    def collect():
        rows = []
        for _ in range(8):
            obs = torch.randn(4)
            dist = Categorical(logits=actor(obs))
            action = dist.sample()
            rows.append({"obs": obs, "action": action, "logp": dist.log_prob(action)})  # here
        return {key: torch.stack([row[key] for row in rows]) for key in rows[0]}

    def parts(rollout, size):
        for begin in range(0, 8, size):
            yield {key: value[begin : begin + size] for key, value in rollout.items()}

    for _ in range(2):
        data = collect()
        for _ in range(2):
            for part in parts(data, 4):
                now = Categorical(logits=actor(part["obs"])).log_prob(part["action"])
                loss = -(now - part["logp"]).exp().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()


@raises("M001 memory not emptied", "GRA401", "self.memory.rows", "not emptied", "self.memory.rows.clear()")
def memory_not_emptied():
    class Memory:
        def __init__(self):
            self.rows = []

        def push(self, *row):
            self.rows.append(Row(*row))

    class Agent:
        def __init__(self):
            self.pi, self.memory = mlp(), Memory()

        def act(self, obs):
            dist = Categorical(logits=self.pi(obs))
            action = dist.sample()
            self.memory.push(obs, dist.log_prob(action))  # here

        def learn(self):
            logp = torch.stack([row.logp for row in self.memory.rows])
            loss = -logp.mean()
            loss.backward()

    agent = Agent()
    for _ in range(2):
        for _ in range(4):
            agent.act(torch.randn(4))
        agent.learn()


@raises("M001 value handed on", "GRA401", "v is handed on", "critic", ".detach()")
def value_handed_on():
    critic = mlp(outputs=1)
    v = critic(torch.randn(4))
    for _ in range(3):
        v_next = critic(torch.randn(4))
        error = (1.0 + 0.9 * v_next - v).square().sum()
        error.backward()
        v = v_next  # here


@raises("M001 old log-probs", "GRA401", "before (16,)", "computed once", "is data", "no_grad()")
def old_log_probs_before_the_epochs():
    actor = mlp()
    obs, did = torch.randn(16, 4), torch.zeros(16, dtype=torch.long)
    before = Categorical(logits=actor(obs)).log_prob(did)  # here
    for _ in range(4):
        after = Categorical(logits=actor(obs)).log_prob(did)
        surrogate = -((after - before).exp() * torch.ones(16)).mean()
        surrogate.backward()


@raises("M001 target given to a function", "GRA401", "goal", "computed once", "is data", "critic")
def target_handed_to_the_update():
    critic = mlp(outputs=1)
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)

    def update(obs, y):
        optimizer.zero_grad()
        loss = (critic(obs) - y).square().mean()
        loss.backward()
        optimizer.step()

    obs = torch.randn(8, 4)
    goal = 1.0 + 0.9 * critic(torch.randn(8, 4)).tanh()  # here
    for _ in range(3):
        update(obs, goal)


@raises("M001 two losses", "GRA401", "two losses", "features", "trunk", "pi_loss.backward()")
def two_losses_share_a_trunk():
    trunk, pi_head, v_head = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)
    for _ in range(2):
        features = trunk(torch.randn(5, 4)).tanh()  # here
        pi_loss = -pi_head(features).log_softmax(-1)[:, 0].mean()
        v_loss = v_head(features).square().mean()
        pi_loss.backward()
        v_loss.backward()


@raises("M001 advantage", "GRA401", "two losses", "v ", "self.critic", "critic_loss.backward()")
def advantage_not_detached():
    class Agent:
        def __init__(self):
            self.actor, self.critic = mlp(), mlp(outputs=1)

        def learn(self, obs, returns):
            v = self.critic(obs).squeeze(-1)  # here
            critic_loss = F.mse_loss(v, returns)
            advantage = returns - v
            actor_loss = -(self.actor(obs).log_softmax(-1)[:, 0] * advantage).mean()
            critic_loss.backward()
            actor_loss.backward()

    Agent().learn(torch.randn(7, 4), torch.ones(7))


@raises("M001 two methods", "GRA401", "two losses", "self.h", "encoder")
def two_methods_of_a_class():
    class Learner:
        def __init__(self):
            self.encoder, self.pi, self.v = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)

        def encode(self, obs):
            self.h = self.encoder(obs).sigmoid()  # here

        def actor_step(self):
            loss = -self.pi(self.h).log_softmax(-1).mean()
            loss.backward()

        def critic_step(self):
            loss = self.v(self.h).square().mean()
            loss.backward()

        def train(self):
            for _ in range(3):
                self.encode(torch.randn(3, 4))
                self.actor_step()
                self.critic_step()

    Learner().train()


@raises("M001 GRU state", "GRA401", "recurrent state memory", "memory.detach()")
def recurrent_state_in_a_loop():
    cell, head = nn.GRUCell(4, 8), nn.Linear(8, 1)
    memory = torch.zeros(1, 8)
    for _ in range(3):
        errors = []
        for _ in range(4):
            memory = cell(torch.randn(1, 4), memory)  # here
            errors.append(head(memory).square().mean())
        loss = torch.stack(errors).mean()
        loss.backward()


@raises("M001 LSTM state of self", "GRA401", "recurrent state", "self.state", "detach()")
def lstm_state_kept_by_an_agent():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.head = nn.LSTM(4, 8), nn.Linear(8, 2)
            self.state = (torch.zeros(1, 1, 8), torch.zeros(1, 1, 8))

        def forward(self, obs):
            out, self.state = self.lstm(obs, self.state)  # here
            return self.head(out)

    class Trainer:
        def __init__(self):
            self.policy = Recurrent()

        def update(self):
            value = self.policy(torch.randn(5, 1, 4)).square().mean()
            value.backward()

    trainer = Trainer()
    for _ in range(2):
        trainer.update()


@raises(
    "M001 state carried over, begun anew at the end of an episode",
    "GRA401",
    "recurrent state carry",
    "for each in carry",
)
def state_tuple_carried_over():
    class Memory(nn.Module):
        def __init__(self):
            super().__init__()
            self.core, self.head = nn.LSTMCell(4, 8), nn.Linear(8, 3)

        def blank(self):
            zero = torch.zeros(1, 8)
            return zero, zero.clone()

        def forward(self, seen, carry):
            carry = self.core(seen, carry)
            return self.head(carry[0]), carry

    net = Memory()
    carry = net.blank()
    seen = torch.randn(1, 4)
    for _ in range(3):
        scores = []
        for step in range(4):
            out, carry = net(seen, carry)  # here
            scores.append(out.max())
            seen = torch.full((1, 4), out.argmax().item(), dtype=torch.float32)
            if step > 5:
                carry = net.blank()
                break
        scores = torch.stack(scores)
        loss = (scores - 1.0).square().mean()
        loss.backward()


@raises("M001 stacked anew in each pass", "GRA401", "bonus was computed once", "is data")
def stacked_from_a_list_of_the_same_name():
    critic, teacher = mlp(outputs=1), mlp(outputs=1)
    seen = torch.randn(6, 4)
    bonus = teacher(seen).squeeze(-1)  # here
    for _ in range(2):
        values = []
        for row in seen:
            values.append(critic(row).squeeze())
        values = torch.stack(values)
        F.mse_loss(values, bonus).backward()


@raises(
    "M001 returns summed backwards", "GRA401", "gain", "goal", "computed once", "from guess", "are data", ".detach()"
)
def returns_summed_backwards_with_their_graph():
    def lambda_returns(reward, guess, last):
        out = torch.zeros(len(reward))
        run = 0.0
        rows = [0.0] * len(reward)
        for i in range(len(reward) - 1, -1, -1):
            error = reward[i] + 0.9 * last - guess[i]
            run = error + 0.8 * run
            rows[i] = run
            last = guess[i]
        out = torch.stack(rows)
        return out

    actor, critic, seen = mlp(), mlp(outputs=1), torch.randn(5, 4)
    optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
    guess = critic(seen).squeeze(-1)
    gain = lambda_returns(torch.ones(5), guess, torch.zeros(()))
    goal = gain + guess
    gain = gain / gain.std()  # here
    for _ in range(3):
        pi = Categorical(logits=actor(seen))
        loss = -(pi.log_prob(torch.zeros(5)) * gain).mean() + F.mse_loss(critic(seen).squeeze(-1), goal)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@raises("M001 temperature", "GRA401", "two losses", "give tuning entropy.detach()")
def temperature_shares_the_entropy():
    class Soft:
        def __init__(self):
            self.pi, self.log_t = mlp(), torch.zeros((), requires_grad=True)
            self.pi_opt = torch.optim.Adam(self.pi.parameters())
            self.t_opt = torch.optim.Adam([self.log_t])

        def learn(self, seen):
            entropy = Categorical(logits=self.pi(seen)).entropy()  # here
            objective = -(self.log_t.exp().detach() * entropy).mean()
            self.pi_opt.zero_grad()
            objective.backward()
            self.pi_opt.step()
            tuning = (self.log_t * (entropy - 0.5)).mean()
            self.t_opt.zero_grad()
            tuning.backward()
            self.t_opt.step()

    Soft().learn(torch.randn(6, 4))


@raises("M001 the first loss may be detached", "GRA401", "two losses", "give playing worth.detach()")
def first_loss_reaches_into_the_critic():
    actor, critic, seen = mlp(), mlp(outputs=1), torch.randn(6, 4)
    play, judge = torch.optim.SGD(actor.parameters(), lr=0.1), torch.optim.SGD(critic.parameters(), lr=0.1)
    worth = critic(seen).squeeze(-1)  # here
    playing = -(Categorical(logits=actor(seen)).log_prob(torch.zeros(6)) * (1.0 - worth)).mean()
    playing.backward()
    play.step()
    judging = (1.0 - worth).square().mean()
    judging.backward()
    judge.step()


@raises("M001 both losses train the trunk", "GRA401", "two losses", "add the losses", "compute the shared part anew")
def both_losses_train_the_trunk():
    trunk, left, right = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 1)
    optimizer = torch.optim.SGD([*trunk.parameters(), *left.parameters(), *right.parameters()], lr=0.1)
    code = trunk(torch.randn(5, 4)).tanh()  # here
    one = left(code).logsumexp(-1).mean()
    one.backward()
    two = right(code).square().mean()
    two.backward()
    optimizer.step()


@raises("M001 running sum", "GRA401", "total", "added to", "anew")
def loss_added_to():
    net = mlp()
    total = torch.zeros(())
    for _ in range(2):
        total = total + net(torch.randn(3, 4)).square().mean()  # here
        total.backward()


@raises("M001 the same loss", "GRA401", "backward() was called on loss twice")
def same_loss_twice():
    net = mlp()
    loss = net(torch.randn(3, 4)).square().mean()  # here
    loss.backward()
    loss.backward()


# ── M002: no graph ──────────────────────────────────────────────────────────────────────────────────────────────────


@raises("M002 torch.tensor of a list", "GRA403", "torch.tensor()", "policy", "torch.stack()")
def tensor_of_a_list():
    policy = mlp()
    gathered = []
    for _ in range(4):
        pi = Categorical(logits=policy(torch.randn(4)))
        gathered.append(pi.log_prob(pi.sample()))
    logp = torch.tensor(gathered)  # here
    loss = -(logp * torch.ones(4)).mean()
    loss.backward()


@raises("M002 numpy", "GRA403", "numpy", "net")
def through_numpy():
    net = mlp()
    scores = net(torch.randn(6, 4))
    best = scores.detach().numpy().max(axis=1)  # here
    objective = torch.from_numpy(best).mean()
    objective.backward()


@raises("M002 .data", "GRA403", ".data", "critic")
def data_attribute():
    critic = mlp(outputs=1)

    def values(obs):
        out = critic(obs)
        return out.data.squeeze(-1)  # here

    F.mse_loss(values(torch.randn(5, 4)), torch.zeros(5)).backward()


@raises("M002 stored under no_grad", "GRA403", "torch.no_grad()", "self.actor")
def stored_under_no_grad():
    class Reinforce:
        def __init__(self):
            self.actor = mlp()
            self.optimizer = torch.optim.Adam(self.actor.parameters())
            self.logps = []

        def act(self, obs):
            with torch.no_grad():  # here
                dist = Categorical(logits=self.actor(obs))
                action = dist.sample()
                self.logps.append(dist.log_prob(action))
            return action

        def learn(self, returns):
            loss = -(torch.stack(self.logps) * returns).sum()
            self.optimizer.zero_grad()
            loss.backward()

    agent = Reinforce()
    for _ in range(3):
        agent.act(torch.randn(4))
    agent.learn(torch.ones(3))


@raises("M002 stored by a decorated method", "GRA403", "torch.no_grad()", "self.pi")
def stored_by_a_decorated_method():
    class Buffer:
        def __init__(self):
            self.chance, self.gain = [], []

        def add(self, chance, gain):
            self.chance.append(chance)
            self.gain.append(gain)

        def get(self):
            return torch.stack(self.chance), torch.tensor(self.gain)

    class Agent:
        def __init__(self):
            self.pi, self.buffer = mlp(), Buffer()
            self.optimizer = torch.optim.Adam(self.pi.parameters())

        @torch.no_grad()  # here
        def act(self, obs):
            dist = Categorical(logits=self.pi(obs))
            action = dist.sample()
            self.buffer.add(dist.log_prob(action), 1.0)

        def update(self):
            chance, gain = self.buffer.get()
            loss = -(chance * gain).mean()
            self.optimizer.zero_grad()
            loss.backward()

    agent = Agent()
    for _ in range(3):
        agent.act(torch.randn(4))
    agent.update()


@raises("M002 decorator", "GRA403", "torch.no_grad()", "model")
def decorated_with_no_grad():
    model = mlp(outputs=1)

    @torch.no_grad()  # here
    def predicted(obs):
        return model(obs).squeeze(-1)

    loss = (predicted(torch.randn(3, 4)) - 1.0).square().mean()
    loss.backward()


@raises("M002 detached in forward", "GRA403", "detach()", "self.body")
def detached_in_forward():
    class Dueling(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 3)

        def forward(self, x):
            return self.body(x).detach()  # here

    net = Dueling()
    with torch.no_grad():
        target = net(torch.randn(2, 4)).max(-1).values
    chosen = net(torch.randn(2, 4))[:, 0]
    F.smooth_l1_loss(chosen, target).backward()


@raises("M002 argmax", "GRA403", "argmax()", "actor", "log-prob")
def argmax_of_the_actor():
    actor = mlp()
    action = actor(torch.randn(6, 4)).argmax(-1)  # here
    loss = (action.float() - 1.0).square().mean()
    loss.backward()


@raises("M002 item in a list", "GRA403", "item()", "v")
def items_in_a_list():
    v = mlp(outputs=1)
    outputs = [v(torch.randn(4)).item() for _ in range(5)]  # here
    (torch.tensor(outputs) - 1.0).square().mean().backward()


@raises("M002 frozen", "GRA403", "frozen", "requires_grad_(True)", "base")
def frozen_like_an_adapter():
    base = mlp()
    base.requires_grad_(False)  # here
    loss = F.cross_entropy(base(torch.randn(8, 4)), torch.zeros(8, dtype=torch.long))
    loss.backward()


@raises("M002 loss handed over", "GRA403", "detach()", "worker.net")
def loss_handed_to_a_function():
    def optimise(optimizer, objective):
        optimizer.zero_grad()
        objective.backward()
        optimizer.step()

    worker = SimpleNamespace(net=mlp(outputs=1))
    optimizer = torch.optim.SGD(worker.net.parameters(), lr=0.1)
    quality = worker.net(torch.randn(3, 4)).detach()  # here
    optimise(optimizer, -quality.mean())


@raises("M002 target is rightly data", "GRA403", "torch.FloatTensor()", "online")
def target_is_not_blamed():
    online, target = mlp(), mlp()
    optimizer = torch.optim.SGD(online.parameters(), lr=0.1)
    with torch.no_grad():
        y = 1.0 + 0.99 * target(torch.randn(4, 4)).max(-1).values
    q = torch.FloatTensor([online(torch.randn(4))[0] for _ in range(4)])  # here
    optimizer.zero_grad()
    F.mse_loss(q, y).backward()


@raises("M002 acting function in the actor loss", "GRA403", "torch.no_grad() on greedy()", "self.policy", "greedy()")
def acting_function_in_the_actor_loss():
    class Ddpg:
        def __init__(self):
            self.policy, self.critic = mlp(outputs=2), mlp(inputs=6, outputs=1)
            self.up = torch.optim.SGD(self.policy.parameters(), lr=0.1)
            self.fit = torch.optim.SGD(self.critic.parameters(), lr=0.1)

        @torch.no_grad()  # here
        def greedy(self, seen):
            return torch.tanh(self.policy(seen))

        def improve(self, seen):
            self.critic.requires_grad_(False)
            moves = self.greedy(seen)
            climb = -self.critic(torch.cat([seen, moves], -1)).mean()
            self.up.zero_grad()
            climb.backward()
            self.up.step()
            self.critic.requires_grad_(True)

    Ddpg().improve(torch.randn(5, 4))


@raises("M002 stored actions in the actor loss", "GRA403", "does not use pi", "critic may stay frozen")
def stored_actions_in_the_actor_loss():
    pi, critic = mlp(outputs=2), mlp(inputs=6, outputs=1)
    critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    pi_opt = torch.optim.SGD(pi.parameters(), lr=0.1)
    seen, moves = torch.randn(5, 4), torch.randn(5, 2)
    F.mse_loss(critic(torch.cat([seen, moves], 1)), torch.zeros(5, 1)).backward()
    critic_opt.step()
    for weight in critic.parameters():
        weight.requires_grad = False
    climb = -critic(torch.cat([seen, moves], 1)).mean()
    pi_opt.zero_grad()
    climb.backward()  # here
    pi_opt.step()


@raises("M002 inference mode", "GRA403", "torch.inference_mode()", "mover", "outside of inference_mode()")
def judged_in_inference_mode():
    mover, judge = mlp(), mlp(inputs=2, outputs=1)
    optimizer = torch.optim.SGD(mover.parameters(), lr=0.1)
    moved = mover(torch.randn(3, 4))
    with torch.inference_mode():  # here
        mark = judge(moved)
    optimizer.zero_grad()
    torch.neg(mark).mean().clone().backward()
    optimizer.step()


@raises("M002 update under no_grad", "GRA403", "off fit()")
def update_under_a_decorator():
    net = mlp(outputs=1)

    @torch.no_grad()  # here
    def fit(seen):
        loss = net(seen).square().mean()
        loss.backward()

    fit(torch.randn(3, 4))


@raises(
    "M002 several cuts in one line", "GRA403", "detach() and tolist() cut it off", "leave detach() and tolist() out"
)
def several_cuts_in_one_line():
    scorer, chosen = mlp(), []
    for _ in range(3):
        both = scorer(torch.randn(4)).detach().tolist()  # here
        chosen.append(both[0])
    objective = torch.tensor(chosen).mean()
    objective.backward()


# ── M003: many numbers ──────────────────────────────────────────────────────────────────────────────────────────────


@raises("M003 weighted value loss", "VAL401", "per_sample (32, 1)", "per_sample.mean()", text_too=False)
def per_sample_value_loss():
    q, weights = mlp(outputs=1), torch.ones(32, 1)
    per_sample = weights * F.mse_loss(q(torch.randn(32, 4)), torch.zeros(32, 1), reduction="none")  # here
    per_sample.backward()


@raises("M003 one term", "POL401", "entropy (16,)", "entropy.mean()")
def one_term_is_not_reduced():
    actor = mlp()
    dist = Categorical(logits=actor(torch.randn(16, 4)))
    gain = -(dist.log_prob(dist.sample()) * torch.ones(16)).mean()
    entropy = dist.entropy()
    total = gain - 0.01 * entropy  # here
    total.backward()


@raises("M003 one dimension", "POL401", "gain (4,)", "sum(dim=0)", "sum() instead of")
def reduced_over_time_only():
    actor = mlp()
    dist = Categorical(logits=actor(torch.randn(6, 4, 4)))
    gain = 0.5 * (dist.log_prob(dist.sample()) * torch.ones(6, 4)).sum(dim=0)  # here
    bonus = dist.entropy().mean()
    (gain - 0.01 * bonus).backward()


@raises("M001 two heads of one body", "GRA401", "two losses of one forward pass", "add the losses")
def heads_of_one_body():
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.pi, self.v = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 2), nn.Linear(8, 1)

        def forward(self, obs):
            z = self.body(obs)
            return torch.log_softmax(self.pi(z), -1), self.v(z).squeeze(-1)

    net, returns = Heads(), torch.randn(6)
    logp, values = net(torch.randn(6, 4))
    actor_loss = -(logp[:, 0] * (returns - values).detach()).mean()
    critic_loss = F.mse_loss(values, returns)
    actor_loss.backward()  # here
    critic_loss.backward()


@raises("M003 log-probs in an array", "GRA403", "detach() and numpy() cut", "stack")
def log_probs_in_an_array():
    def collect(policy):
        kept = np.zeros(5, np.float32)
        for step in range(5):
            dist = Categorical(logits=policy(torch.randn(4)))
            kept[step] = dist.log_prob(dist.sample()).detach().numpy()  # here
        return kept, np.ones(5, np.float32)

    actor = mlp()
    logp, gain = collect(actor)
    loss = -(torch.from_numpy(logp) * torch.from_numpy(gain)).mean()
    loss.backward()


# ── M004: changed in place ──────────────────────────────────────────────────────────────────────────────────────────


@raises("M004 SAC", "GRA402", "q_optimizer.step()", "critic", "actor_loss", "actor_loss = -critic")
def critic_steps_before_the_actor_loss():
    actor, critic = mlp(outputs=3), mlp(inputs=7, outputs=1)
    pi_optimizer = torch.optim.Adam(actor.parameters())
    q_optimizer = torch.optim.Adam(critic.parameters())
    obs = torch.randn(6, 4)
    actor_loss = -critic(torch.cat([obs, actor(obs)], -1)).mean()
    critic_loss = critic(torch.randn(6, 7)).square().mean()
    q_optimizer.zero_grad()
    critic_loss.backward()
    q_optimizer.step()  # here
    pi_optimizer.zero_grad()
    actor_loss.backward()


@raises("M004 class with two optimizers", "GRA402", "self.critic_opt.step()", "self.critic", "before the first step()")
def optimizers_of_a_class():
    class Ddpg:
        def __init__(self):
            self.pi, self.critic = mlp(outputs=2), mlp(inputs=6, outputs=1)
            self.pi_opt = torch.optim.SGD(self.pi.parameters(), lr=0.1)
            self.critic_opt = torch.optim.SGD(self.critic.parameters(), lr=0.1)

        def losses(self, obs):
            a = self.pi(obs)
            j = -self.critic(torch.cat([obs, a], -1)).mean()
            return j, self.critic(torch.cat([obs, a.detach()], -1)).square().mean()

        def step_critic(self, loss):
            self.critic_opt.zero_grad()
            loss.backward()
            self.critic_opt.step()  # here

        def learn(self):
            j, td = self.losses(torch.randn(5, 4))
            self.step_critic(td)
            self.pi_opt.zero_grad()
            j.backward()

    Ddpg().learn()


@raises("M004 state masked in place", "GRA402", "hidden", "hidden *=", "new tensor")
def state_masked_in_place():
    cell, head = nn.GRUCell(4, 8), nn.Linear(8, 1)
    hidden = cell(torch.randn(3, 4), torch.zeros(3, 8))
    out = head(hidden).square()
    hidden *= torch.ones(3, 1)  # here
    loss = out.mean() + hidden.mean()
    loss.backward()


@raises("M004 written into a slice", "GRA402", "ret", "ret[t] =")
def returns_written_in_place():
    value = mlp(outputs=1)
    ret = torch.zeros(5)
    v = value(torch.randn(5, 4)).squeeze(-1)
    for t in reversed(range(4)):
        ret[t] = v[t] * ret[t + 1]  # here
    ret.sum().backward()


@raises("M004 clamp_", "GRA402", "act", "act.clamp_()")
def action_clamped_in_place():
    actor = mlp()
    act = actor(torch.randn(6, 4)).exp()
    score = act.square().mean()
    act.clamp_(-1.0, 1.0)  # here
    score.backward()


@raises("M004 twice", "GRA402", "share", "share.div_()", "again in", "share[row] =")
def changed_by_two_lines():
    share = mlp()(torch.randn(3, 4)).sigmoid()
    share.div_(2.0)  # here
    for row in range(1):
        share[row] = 0.0
    share.sum().backward()


@raises(
    "M004 changed before it was needed too",
    "GRA402",
    "2 times since",
    "instead of height.mul_() and of height.clamp_()",
)
def changed_before_it_was_needed_too():
    height = mlp()(torch.randn(3, 4)) + 0.0
    height.add_(1.0)
    power = height.pow(2)
    height.mul_(2.0)  # here
    height.clamp_(0.0, 1.0)
    power.mean().backward()


@raises("M004 in a function", "GRA402", "z", "x -=")
def changed_in_a_function():
    def centred(x):
        x -= x.mean()  # here
        return x

    encoder, head = nn.Linear(4, 4), nn.Linear(4, 1)
    z = encoder(torch.randn(3, 4)).tanh()
    head(centred(z)).mean().backward()


@raises("M004 target moved", "GRA402", "slow", "t.mul_(0.99)")
def target_moved_before_backward():
    fast, slow = mlp(), mlp()

    def follow():
        with torch.no_grad():
            for p, t in zip(fast.parameters(), slow.parameters(), strict=True):
                t.mul_(0.99).add_(0.01 * p)  # here

    goal = slow(torch.randn(3, 4)).max(-1).values
    loss = F.mse_loss(fast(torch.randn(3, 4)).max(-1).values, goal)
    follow()
    loss.backward()


@raises("M004 attribute", "GRA402", "env_state.x", "env_state.x +=")
def attribute_changed_in_place():
    model = mlp(outputs=4)
    env_state = SimpleNamespace(x=torch.zeros(2, 4))
    env_state.x = model(env_state.x).tanh()
    cost = env_state.x.square().sum()
    env_state.x += 1.0  # here
    cost.backward()


@raises("M004 graph retained over the step", "GRA402", "optim.step()", "pass before", "retain_graph=True")
def retained_over_the_step():
    rnn, head = nn.GRUCell(4, 8), nn.Linear(8, 1)
    optim = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    h = torch.zeros(1, 8)
    for _ in range(3):
        h = rnn(torch.randn(1, 4), h)
        loss = head(h).square().mean()
        optim.zero_grad()
        loss.backward(retain_graph=True)
        optim.step()  # here


@raises("M004 in a forward() that has returned", "GRA402", "share", "share *=", "new tensor")
def changed_in_a_forward():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Linear(4, 4)

        def forward(self, x):
            share = F.softmax(self.body(x), dim=-1)
            share *= torch.ones(4)  # here
            return share

    model = Masked()
    model(torch.randn(3, 4))[:, 0].log().sum().backward()


@raises("M004 of a layer's width", "GRA402", "share")
def no_parameter_is_accused_for_its_shape():
    policy = nn.Linear(4, 4)  # its bias has been changed in place once, when it was made, and has the shape of this
    share = torch.softmax(policy(torch.randn(4)), dim=-1)
    total = share.log().sum()
    share += 1.0  # here
    total.backward()


@raises("M004 handed on", "GRA402", "value is of an earlier pass", "opt.step()", "anew")
def value_of_the_pass_before():
    critic = mlp(outputs=1)
    opt = torch.optim.SGD(critic.parameters(), lr=0.1)
    value = critic(torch.randn(1, 4))
    for _ in range(3):
        following = critic(torch.randn(1, 4))
        error = (1.0 + following.detach() - value).square().sum()
        opt.zero_grad()
        error.backward()
        opt.step()
        value = following  # here


@raises("M004 kept by an agent", "GRA402", "self.last is of an earlier pass", "anew")
def value_of_the_call_before():
    class Agent:
        def __init__(self):
            self.critic, self.last = mlp(outputs=1), None
            self.opt = torch.optim.SGD(self.critic.parameters(), lr=0.1)

        def learn(self, obs):
            value = self.critic(obs)
            if self.last is not None:
                self.opt.zero_grad()
                (1.0 + value.detach() - self.last).square().sum().backward()
                self.opt.step()
            self.last = value  # here

    agent = Agent()
    for _ in range(4):
        agent.learn(torch.randn(1, 4))


@raises("M004 a step for each log-prob", "GRA402", "logps is of an earlier pass", "add up the losses")
def a_step_for_each_log_prob():
    rnn, head = nn.GRUCell(4, 8), nn.Linear(8, 2)
    optim = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
    h, logps = torch.zeros(1, 8), []
    for _ in range(3):
        h = rnn(torch.randn(1, 4), h)
        logps.append(torch.log_softmax(head(h), -1)[0, 0])
    for logp, gain in zip(logps, (1.0, 0.5, 0.2), strict=True):
        optim.zero_grad()
        (-logp * gain).backward(retain_graph=True)
        optim.step()  # here


# ── M005, M006, M009: parameters and data ───────────────────────────────────────────────────────────────────────────


@raises("M005 soft update", "GRA404", "slow.0.weight", "no_grad()")
def soft_update():
    fast, slow = mlp(), mlp()
    for p, q in zip(slow.parameters(), fast.parameters(), strict=True):
        p += 0.01 * (q - p)  # here


@raises("M005 temperature", "GRA404", "self.log_alpha", "no_grad()")
def temperature_clamped():
    class Sac:
        def __init__(self):
            self.log_alpha = torch.zeros(1, requires_grad=True)

        def bound(self):
            self.log_alpha.clamp_(-5.0, 2.0)  # here

    Sac().bound()


@raises("M006", "GRA405", "move", "policy", "no_grad()")
def numpy_of_an_action():
    policy = mlp()
    for _ in range(2):
        move = policy(torch.randn(4)).tanh()
        move.numpy()  # here


@raises("M006 np.array", "GRA405", "mu (2,)", "mu.detach()")
def array_of_an_action():
    policy = mlp()
    mu = policy(torch.randn(4))
    np.array(mu)  # here


@raises("M009 stored state", "GRA405", "agent.last_value", "critic", ".detach()")
def deepcopy_of_an_agent():
    class Agent:
        def __init__(self):
            self.critic = mlp(outputs=1)

        def watch(self, obs):
            self.last_value = self.critic(obs)  # here

    agent = Agent()
    agent.watch(torch.randn(4))
    copy.deepcopy(agent)


# ── M008, M011, M012: gradients ─────────────────────────────────────────────────────────────────────────────────────


@raises("M008 TRPO", "GRA407", "kl does not use v.0.weight", "leads to pi", "allow_unused")
def hessian_vector_product():
    pi, v = mlp(), mlp(outputs=1)
    obs = torch.randn(6, 4)
    logits = pi(obs)
    kl = (logits.softmax(-1) * (logits.log_softmax(-1) - logits.detach().log_softmax(-1))).sum(-1).mean()
    weights = [*pi.parameters(), *v.parameters()]
    torch.autograd.grad(kl, weights, create_graph=True)  # here


@raises("M011", "OPT420", "net.0.weight", "not finite", "returns")
def norm_is_nan():
    net = mlp(outputs=1)
    rewards = torch.ones(4)
    returns = (rewards - rewards.mean()) / rewards.std()  # here
    loss = ((net(torch.randn(4, 4)).squeeze(-1) - returns) ** 2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 0.5, error_if_nonfinite=True)


@raises("M012", "GRA407", "critic.0.weight", "4 of 4 parameters of critic", "leads to critic")
def gradient_of_another_network():
    actor, critic = mlp(), mlp(outputs=1)
    actor(torch.randn(3, 4)).square().mean().backward()
    total = 0.0
    for weight in critic.parameters():
        total += weight.grad.norm().item() ** 2  # here


@raises("M012 unused head", "GRA407", "aux.weight", "2 of 4 parameters")
def gradient_of_an_unused_head():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.main, self.aux = nn.Linear(4, 1), nn.Linear(4, 1)

        def scale(self):
            for p in self.parameters():
                p.grad.data.mul_(0.5)  # here

    net = Net()
    net.main(torch.randn(3, 4)).mean().backward()
    net.scale()


# ── M013, M014, M016: optimizers ────────────────────────────────────────────────────────────────────────────────────


@raises("M013 moved", "OPT402", "log_temp", "requires_grad_()")
def parameter_moved_after():
    log_temp = torch.zeros(1, requires_grad=True).to(torch.float64)  # here
    torch.optim.Adam([log_temp], lr=1e-3)


@raises("M013 exp", "OPT402", "self.alpha", "Exp")
def exponential_given_to_adam():
    class Sac:
        def __init__(self):
            self.log_alpha = nn.Parameter(torch.zeros(1))
            self.alpha = self.log_alpha.exp()  # here
            self.optimizer = torch.optim.Adam([self.alpha])

    Sac()


@raises("M014 list of layers", "OPT402", "model.layers", "3 modules", "nn.ModuleList")
def layers_in_a_list():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(4, 4) for _ in range(3)]  # here

    model = Deep()
    torch.optim.Adam(model.parameters())


@raises("M014 generator", "OPT402", "weights", "used up", "list")
def generator_used_up():
    net = mlp()
    weights = net.parameters()  # here
    print(f"{sum(each.numel() for each in weights)} parameters", end="")
    torch.optim.SGD(weights, lr=0.1)


@raises("M016", "OPT421", "annealing", "right after optimizer.step()", warns=True)
def scheduler_first():
    net = mlp()
    optimizer = torch.optim.Adam(net.parameters())
    annealing = torch.optim.lr_scheduler.LinearLR(optimizer)
    for _ in range(3):
        annealing.step()  # here


@raises("X420 inference mode", "GRA406", "seen", "no_grad()")
def inference_tensor():
    encoder, head = mlp(outputs=4), nn.Linear(4, 1)
    with torch.inference_mode():
        seen = encoder(torch.randn(3, 4))  # here
    head(seen).mean().backward()


@pytest.mark.parametrize("case", cases_in(globals()), ids=lambda case: case.id)
def test_it_is_explained(case):
    check(case)
