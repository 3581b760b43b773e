"""Soft updates of a target network, as people write them."""

from __future__ import annotations

import copy

import numpy as np
import torch

from tests.planted_functions import right, wrong


@right()
def cleanrl_like(qf, qf_target, tau):
    for param, target_param in zip(qf.parameters(), qf_target.parameters(), strict=False):
        target_param.data.copy_(tau * param.data + (1 - tau) * target_param.data)


@right()
def spinning_up_like(ac, ac_targ, polyak=0.995):
    with torch.no_grad():
        for p, p_targ in zip(ac.parameters(), ac_targ.parameters(), strict=False):
            p_targ.data.mul_(polyak)
            p_targ.data.add_((1 - polyak) * p.data)


@right()
def over_lists(params, target_params, tau):
    with torch.no_grad():
        for p, t in zip(params, target_params, strict=False):
            t.lerp_(p, tau)


@right()
def by_state_dict(target_net, policy_net, TAU):
    target_state = target_net.state_dict()
    policy_state = policy_net.state_dict()
    for key in policy_state:
        target_state[key] = policy_state[key] * TAU + target_state[key] * (1 - TAU)
    target_net.load_state_dict(target_state)


@right()
def hard(local_model, target_model):
    target_model.load_state_dict(local_model.state_dict())


@right()
def own_number(online, target):
    for p, t in zip(online.parameters(), target.parameters(), strict=False):
        t.data = 0.005 * p.data.clone() + 0.995 * t.data


@right()
def method(self):
    for eval_param, target_param in zip(self.q_net.parameters(), self.target_q_net.parameters(), strict=False):
        target_param.data.copy_(target_param.data * (1.0 - self.tau) + eval_param.data * self.tau)


@right()
def keras_like(model, target_model, tau):
    mixed = [tau * w + (1 - tau) * tw for w, tw in zip(model.get_weights(), target_model.get_weights(), strict=False)]
    target_model.set_weights(mixed)


@right()
def functional(weights, target_weights, tau):
    return [tau * np.asarray(w) + (1 - tau) * np.asarray(t) for w, t in zip(weights, target_weights, strict=False)]


@right()
def exponential_average(ema_model, model, decay):
    @torch.no_grad()
    def step():
        for e, m in zip(ema_model.parameters(), model.parameters(), strict=False):
            e.copy_(decay * e + (1 - decay) * m)

    step()


@right()
def two_pairs(self):
    for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
        for p, t in zip(net.parameters(), target.parameters(), strict=True):
            t.data.copy_(self.tau * p.data + (1 - self.tau) * t.data)


@wrong("soft-update-one-network-missed")
def the_same_pair_twice(self):
    for net, target in ((self.q1, self.q1_target), (self.q2, self.q2_target)):
        for p, t in zip(net.parameters(), self.q1_target.parameters(), strict=True):
            if target is self.q1_target:
                t.data.copy_(self.tau * p.data + (1 - self.tau) * t.data)


@wrong("soft-update-tau-inverted")
def tau_on_the_target(target, source, tau):
    for t, s in zip(target.parameters(), source.parameters(), strict=False):
        t.data.copy_(t.data * tau + s.data * (1.0 - tau))


@wrong("soft-update-tau-inverted")
def polyak_on_the_source(main_net, target_net, polyak):
    with torch.no_grad():
        for m, t in zip(main_net.parameters(), target_net.parameters(), strict=False):
            t.lerp_(m, polyak)


@wrong("soft-update-backwards")
def writes_into_the_online_one(local_model, target_model, tau):
    for target_param, local_param in zip(target_model.parameters(), local_model.parameters(), strict=False):
        local_param.data.copy_(tau * target_param.data + (1.0 - tau) * local_param.data)


@wrong("soft-update-copies-all")
def copies(net, target_net, tau=0.005):
    target_net.load_state_dict(copy.deepcopy(net.state_dict()))


@wrong("soft-update-old-not-shrunk")
def only_adds(src, dst, tau):
    with torch.no_grad():
        for a, b in zip(src.parameters(), dst.parameters(), strict=False):
            b += tau * a


@wrong("soft-update-old-dropped")
def only_the_new(critic, critic_target, tau):
    new = {k: tau * v for k, v in critic.state_dict().items()}
    critic_target.load_state_dict(new)


@wrong("soft-update-source-not-scaled")
def adds_whole(source_params, target_params, tau):
    for s, t in zip(source_params, target_params, strict=False):
        t.data.mul_(1 - tau)
        t.data.add_(s.data)


@wrong("soft-update-moves-away")
def difference_swapped(target, online, tau):
    for t, o in zip(target.parameters(), online.parameters(), strict=False):
        t.data += tau * (t.data - o.data)


@wrong("soft-update-parameters-missed")
def weights_only(actor, actor_target, tau):
    online = dict(actor.named_parameters())
    for name, t in actor_target.named_parameters():
        if "weight" in name:
            t.data.copy_(tau * online[name].data + (1 - tau) * t.data)


@wrong("soft-update-parameters-missed")
def returns_in_the_loop(source, target, tau):
    for s, t in zip(source.parameters(), target.parameters(), strict=False):
        t.data.copy_(tau * s.data + (1 - tau) * t.data)
        return target


@wrong("soft-update-no-effect")
def rebinds(q_network, target_network, tau):
    for p, t in zip(q_network.parameters(), target_network.parameters(), strict=False):
        t = tau * p + (1 - tau) * t


@wrong("soft-update-no-effect")
def loads_itself(model, target_model):
    target_model.load_state_dict(target_model.state_dict())


@wrong("soft-update-scales-source")
def in_place_on_the_source(q, q_target, tau):
    for p, p_targ in zip(q.parameters(), q_target.parameters(), strict=False):
        p_targ.data.mul_(1 - tau)
        p_targ.data.add_(p.data.mul_(tau))


@wrong("soft-update-shares-memory")
def same_tensors(online_net, target_net):
    for p, t in zip(online_net.parameters(), target_net.parameters(), strict=False):
        t.data = p.data


@wrong("soft-update-keeps-graph")
def without_no_grad(net, target, tau):
    for t, s in zip(target.parameters(), net.parameters(), strict=False):
        t.mul_(1 - tau)
        t.add_(tau * s)


@wrong("soft-update-tau-inverted", "soft-update-parameters-missed")
def inverted_and_no_biases(target, source, tau):
    for t, s in zip(target.parameters(), source.parameters(), strict=False):
        if t.dim() > 1:
            t.data.copy_(tau * t.data + (1 - tau) * s.data)


@wrong("soft-update-old-not-shrunk", "soft-update-scales-source")
def adds_what_it_scales(params, target_params, tau):
    with torch.no_grad():
        for p, t in zip(params, target_params, strict=False):
            p.mul_(tau)
            t.add_(p)


@wrong("soft-update-mismatch")
def squares(net, target_net, tau):
    for p, t in zip(net.parameters(), target_net.parameters(), strict=False):
        t.data.copy_(tau * p.data**2 + (1 - tau) * t.data)
