"""Flat parameters, as people get and set them."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.planted_functions import right, wrong


@right()
def get_flat_params_from(model):
    params = []
    for param in model.parameters():
        params.append(param.data.view(-1))
    return torch.cat(params)


@right()
def set_flat_params_to(model, flat_params):
    prev_ind = 0
    for param in model.parameters():
        flat_size = int(np.prod(list(param.size())))
        param.data.copy_(flat_params[prev_ind : prev_ind + flat_size].view(param.size()))
        prev_ind += flat_size


@right()
def by_torch(parameters):
    return nn.utils.parameters_to_vector(parameters)


@right()
def by_torch_set(vec, parameters):
    nn.utils.vector_to_parameters(vec, parameters)


@right()
def numpy_get(policy):
    return np.concatenate([p.detach().numpy().ravel() for p in policy.parameters()])


@right()
def method_set(self, new_params):
    index = 0
    for p in self.actor.parameters():
        p.data = torch.as_tensor(new_params[index : index + p.numel()], dtype=p.dtype).reshape(p.shape).clone()
        index += p.numel()


@right()
def flat_grad(output, inputs, retain_graph=False, create_graph=False):
    grads = torch.autograd.grad(output, inputs, retain_graph=retain_graph, create_graph=create_graph)
    return torch.cat([g.reshape(-1) for g in grads])


@right()
def get_gradient(net):
    return torch.cat([p.grad.flatten() for p in net.parameters()])


@right()
def unflatten(vector, shapes):
    out, at = [], 0
    for shape in shapes:
        n = int(np.prod(shape))
        out.append(np.asarray(vector)[at : at + n].reshape(shape))
        at += n
    return out


@right()
class Holder:
    """A class: its method that sets is judged."""

    def __init__(self, policy):
        self.policy = policy

    def assign(self, vector):
        nn.utils.vector_to_parameters(vector, self.policy.parameters())


@wrong("flat-parameters-no-effect")
def rebinds(model, vector):
    i = 0
    for p in model.parameters():
        n = p.numel()
        p = vector[i : i + n].view_as(p)
        i += n


@wrong("flat-parameters-offset-stuck")
def stays_at_zero(actor, flat_params):
    offset = 0
    for p in actor.parameters():
        size = p.numel()
        p.data.copy_(flat_params[offset : offset + size].reshape(p.shape))


@wrong("flat-parameters-offset-by-rows")
def moves_by_length(params, flat):
    place = 0
    with torch.no_grad():
        for p in params:
            p.copy_(flat[place : place + p.numel()].view_as(p))
            place += len(p)


@wrong("flat-parameters-order-changed")
def by_name(model):
    named = dict(model.named_parameters())
    return torch.cat([named[name].data.flatten() for name in sorted(named)])


@wrong("flat-parameters-order-changed")
def from_the_last(network, theta):
    i = 0
    for p in reversed(list(network.parameters())):
        p.data.copy_(theta[i : i + p.numel()].view(p.shape))
        i += p.numel()


@wrong("flat-parameters-transposed")
def column_by_column(weights):
    return np.concatenate([np.asarray(w.detach() if torch.is_tensor(w) else w).flatten(order="F") for w in weights])


@wrong("flat-parameters-some-missing")
def no_biases(model):
    return torch.cat([p.view(-1) for name, p in model.named_parameters() if name.endswith("weight")]).detach()


@wrong("flat-parameters-some-missing")
def set_without_biases(model, flat_params):
    i = 0
    for p in model.parameters():
        if p.dim() < 2:
            continue
        p.data.copy_(flat_params[i : i + p.numel()].view_as(p))
        i += p.numel()


@wrong("flat-parameters-added")
def adds(self, new_theta):
    i = 0
    for p in self.policy.parameters():
        p.data += new_theta[i : i + p.numel()].view_as(p)
        i += p.numel()


@wrong("flat-parameters-replaced")
def new_ones(net, flat):
    i = 0
    for module in net.children():
        for name, old in list(module.named_parameters()):
            setattr(module, name, nn.Parameter(flat[i : i + old.numel()].view_as(old).clone()))
            i += old.numel()


@wrong("flat-parameters-shapes-lost")
def flat_slices(model, new_params):
    i = 0
    for p in model.parameters():
        p.data = new_params[i : i + p.numel()].clone()
        i += p.numel()


@wrong("flat-parameters-order-changed", "flat-parameters-transposed")
def reversed_and_transposed(params):
    out = [p.detach().numpy().T.ravel() for p in params]
    return np.concatenate(out[::-1])


@wrong("flat-parameters-added", "flat-parameters-offset-stuck")
def adds_the_first_again(model, vector):
    start = 0
    for p in model.parameters():
        p.data.add_(vector[start : start + p.numel()].view_as(p))


@wrong("flat-parameters-added", "flat-parameters-some-missing")
def adds_to_weights(net, new_params):
    place = 0
    for w in net.parameters():
        if w.ndim == 2:
            w.data += new_params[place : place + w.numel()].reshape(w.shape)
            place += w.numel()


@wrong("flat-parameters-mismatch")
def halves(model):
    return 0.5 * torch.cat([p.view(-1) for p in model.parameters()])
