"""Fisher-vector products, as people write them."""

from __future__ import annotations

import torch
from torch.distributions import Categorical, Normal, kl_divergence

from tests.planted_functions import right, wrong


@right()
def ikostrikov_like(get_kl, model, v, damping):
    kl = get_kl().mean()
    grads = torch.autograd.grad(kl, model.parameters(), create_graph=True)
    flat_grad_kl = torch.cat([grad.view(-1) for grad in grads])
    kl_v = (flat_grad_kl * v).sum()
    grads = torch.autograd.grad(kl_v, model.parameters())
    return torch.cat([grad.contiguous().view(-1) for grad in grads]).data + v * damping


@right()
def sb3_like(self, params, grad_kl, vector, retain_graph=True):
    product = (grad_kl * vector).sum()
    grads = torch.autograd.grad(product, params, retain_graph=retain_graph)
    return torch.cat([g.ravel() for g in grads]) + self.cg_damping * vector


@right()
def of_a_policy(policy, obs, v, damping=0.1):
    pi = policy(obs)
    with torch.no_grad():
        old = policy(obs)
    kl = kl_divergence(old, pi).mean()
    g = torch.cat([x.flatten() for x in torch.autograd.grad(kl, policy.parameters(), create_graph=True)])
    hv = torch.autograd.grad(g @ v, policy.parameters())
    return torch.cat([x.flatten() for x in hv]) + damping * v


@right()
def of_logits(actor, states, vector, damping_coeff):
    logits = actor(states)
    assert logits.shape[-1] == 2
    new, old = Categorical(logits=logits), Categorical(logits=logits.detach())
    kl = kl_divergence(old, new).mean()
    grads = torch.autograd.grad(kl, list(actor.parameters()), create_graph=True)
    flat = torch.cat([g.reshape(-1) for g in grads])
    out = torch.autograd.grad((flat * vector).sum(), list(actor.parameters()))
    return torch.cat([g.reshape(-1) for g in out]) + damping_coeff * vector


@right()
def without_damping(f, params, x):
    grads = torch.autograd.grad(f, params, create_graph=True)
    flat = torch.cat([g.reshape(-1) for g in grads])
    return torch.cat([g.reshape(-1) for g in torch.autograd.grad((flat * x).sum(), params, retain_graph=True)])


@right()
def own_number(kl, parameters, p):
    parameters = list(parameters)
    g = torch.autograd.grad(kl, parameters, create_graph=True, retain_graph=True)
    dot = sum((a * b).sum() for a, b in zip(g, _split(p, parameters), strict=False))
    hv = torch.autograd.grad(dot, parameters, retain_graph=True)
    return torch.cat([h.reshape(-1) for h in hv]) + 0.01 * p


def _split(vector, like):
    out, i = [], 0
    for each in like:
        out.append(vector[i : i + each.numel()].view_as(each))
        i += each.numel()
    return out


@wrong("fisher-vector-product-damping-missing")
def forgets_damping(mean_kl, params, vec, damping):
    flat = torch.cat([g.view(-1) for g in torch.autograd.grad(mean_kl, params, create_graph=True)])
    return torch.cat([g.view(-1) for g in torch.autograd.grad(flat @ vec, params)])


@wrong("fisher-vector-product-damping-without-v")
def adds_a_number(grad_kl, params, v, damping):
    hv = torch.autograd.grad((grad_kl * v).sum(), params, retain_graph=True)
    return torch.cat([h.flatten() for h in hv]) + damping


@wrong("fisher-vector-product-damping-times")
def multiplies(self, v):
    g = torch.autograd.grad((self.flat_kl_grad * v).sum(), self.params, retain_graph=True)
    return self.damping * torch.cat([x.flatten() for x in g])


@wrong("fisher-vector-product-damping-subtracted")
def subtracts(kl_fn, policy, direction, cg_damping):
    params = list(policy.parameters())
    g = torch.autograd.grad(kl_fn(), params, create_graph=True)
    dot = torch.cat([x.flatten() for x in g]).dot(direction)
    hv = torch.cat([x.flatten() for x in torch.autograd.grad(dot, params)])
    return hv - cg_damping * direction


@wrong("fisher-vector-product-damping-twice")
def doubles(kl, params, v, damping):
    grads = torch.autograd.grad(kl, params, create_graph=True)
    total = (torch.cat([g.flatten() for g in grads]) * v).sum() + 0.5 * damping * (v * v).sum()
    hv = torch.cat([g.flatten() for g in torch.autograd.grad(total, params)]) + damping * v
    return hv + damping * v


@wrong("fisher-vector-product-curvature-lost")
def first_derivative(kl, params, v, damping):
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, retain_graph=True)])
    return flat * v + damping * v


@wrong("fisher-vector-product-sign")
def minus(net, obs, v, damping):
    dist = net(obs)
    old = Normal(dist.mean.detach(), dist.stddev.detach())
    kl = -kl_divergence(old, dist).mean()
    params = list(net.parameters())
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, create_graph=True)])
    return torch.cat([g.flatten() for g in torch.autograd.grad(flat @ v, params)]) + damping * v


@wrong("fisher-vector-product-summed")
def sums(policy, states, p, damping):
    mean, _log_std, std = policy(states)
    old = mean.detach()
    kl = ((mean - old) ** 2 / (2 * std**2)).sum()
    params = list(policy.parameters())
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, create_graph=True)])
    return torch.cat([g.flatten() for g in torch.autograd.grad(flat @ p, params)]) + damping * p


@wrong("fisher-vector-product-averaged-twice")
def divides_again(actor, obs, x, damping):
    dist = actor(obs)
    kl = kl_divergence(Normal(dist.loc.detach(), dist.scale.detach()), dist).mean() / len(obs)
    params = list(actor.parameters())
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, create_graph=True)])
    return torch.cat([g.flatten() for g in torch.autograd.grad((flat * x).sum(), params)]) + x * damping


@wrong("fisher-vector-product-applied-twice")
def two_products(grad_kl, params, vector, damping):
    def hv(u):
        return torch.cat([g.flatten() for g in torch.autograd.grad((grad_kl * u).sum(), params, retain_graph=True)])

    return hv(hv(vector)) + damping * vector


@wrong("fisher-vector-product-diagonal")
def diagonal_only(kl, params, v, damping):
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, create_graph=True)])
    rows = [torch.autograd.grad(each, params, retain_graph=True) for each in flat]
    hessian = torch.stack([torch.cat([g.flatten() for g in row]) for row in rows])
    return torch.diagonal(hessian) * v + damping * v


@wrong("fisher-vector-product-sign", "fisher-vector-product-damping-without-v")
def minus_and_number(mean_kl, params, v, damping):
    flat = torch.cat([g.view(-1) for g in torch.autograd.grad(mean_kl, params, create_graph=True)])
    hv = torch.cat([g.view(-1) for g in torch.autograd.grad(-(flat * v).sum(), params)])
    return hv + damping


@wrong("fisher-vector-product-summed", "fisher-vector-product-damping-missing")
def sums_without_damping(policy, obs, v, damping):
    dist = policy(obs)
    kl = kl_divergence(Normal(dist.loc.detach(), dist.scale), dist).sum()
    params = list(policy.parameters())
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, create_graph=True)])
    return torch.cat([g.flatten() for g in torch.autograd.grad(flat @ v, params)])


@wrong("fisher-vector-product-mismatch")
def cubes(kl, params, v, damping):
    flat = torch.cat([g.flatten() for g in torch.autograd.grad(kl, params, create_graph=True)])
    return torch.cat([g.flatten() for g in torch.autograd.grad(flat @ (v**3), params)]) + damping * v
