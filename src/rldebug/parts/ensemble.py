"""Several networks of one structure as one vmapped call: twin critics, target ensembles; and their soft update."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap


class Ensemble(nn.Module):
    """`n` networks from `make()`, each with a start of its own, evaluated in one call on the same input.

    Parameters and buffers are stacked, `(n, …)`, under their names in one network with `__` for the dots. Dropout draws
    for each network on its own. What a network keeps outside of parameters and buffers is the first one's for all.
    """

    def __init__(self, make: Callable[[], nn.Module], n: int):
        super().__init__()
        if n < 1:
            raise ValueError(f"n is {n}, expected at least one network")
        members = [make() for _ in range(n)]
        _check_members(members)
        parameters, buffers = stack_module_state(members)
        self.n = n
        self._names = {name: name.replace(".", "__") for name in (*parameters, *buffers)}
        for name, stacked in parameters.items():
            self.register_parameter(self._names[name], nn.Parameter(stacked.detach(), stacked.requires_grad))
        for name, stacked in buffers.items():
            self.register_buffer(self._names[name], stacked)
        # The structure without the data; in a list, or its parameters would count as parameters of this module.
        self._structure = [copy.deepcopy(members[0]).to("meta")]
        self._is_mlp = type(members[0]) is nn.Sequential and all(type(each) in _MLP for each in members[0])

    def forward(self, *args: Any) -> Any:
        """`(batch, …)` to `(n, batch, …)`."""
        if self._is_mlp and len(args) == 1 and args[0].ndim == 2:
            return self._mlp(args[0])
        # Without "different" vmap refuses everything that draws random numbers.
        call = vmap(self._one, in_dims=(0, *(None for _ in args)), randomness="different")
        return call(self._stacked(), *args)

    def select(self, i: int) -> nn.Module:
        """The `i`-th network as a plain module: a copy that shares nothing with the ensemble."""
        if not 0 <= i < self.n:
            raise IndexError(f"i is {i}, expected 0 to {self.n - 1}")
        stacked = self._stacked()
        member = copy.deepcopy(self._structure[0]).to_empty(device=next(iter(stacked.values())).device)
        for name, tensor in (*member.named_parameters(), *member.named_buffers()):
            tensor.data = stacked[name][i].detach().clone()  # not copy_: the dtype may have been changed since
        return member

    def train(self, mode: bool = True) -> Ensemble:
        self._structure[0].train(mode)  # or dropout would go on at evaluation
        return super().train(mode)

    def _mlp(self, x: Tensor) -> Tensor:
        """What vmap would do, without its cost per operation: two thirds of the time for twin critics, forward."""
        x = x.expand(self.n, *x.shape)
        for i, layer in enumerate(self._structure[0].children()):
            if isinstance(layer, nn.Linear):
                weight = getattr(self, f"{i}__weight").mT
                x = x @ weight if layer.bias is None else torch.baddbmm(getattr(self, f"{i}__bias")[:, None], x, weight)
            else:
                x = layer(x)
        return x

    def _one(self, stacked: dict[str, Tensor], *args: Any) -> Any:
        return functional_call(self._structure[0], stacked, args)

    def _stacked(self) -> dict[str, Tensor]:
        return {name: getattr(self, here) for name, here in self._names.items()}


_MLP = (nn.Linear, nn.ReLU, nn.Tanh, nn.SiLU, nn.GELU, nn.ELU, nn.LeakyReLU, nn.Sigmoid, nn.Softplus, nn.Identity)


@torch.no_grad()
def soft_update(target: nn.Module, source: nn.Module, tau: float) -> None:
    """Moves the parameters of `target` by the share `tau` towards those of `source`; 1 copies. Buffers are copied."""
    if not 0 <= tau <= 1:
        raise ValueError(f"tau is {tau}, expected a share from 0 (nothing moves) to 1 (a copy)")
    moved, towards = _pairs("parameters", list(target.parameters()), list(source.parameters()))
    if hasattr(torch, "_foreach_lerp_"):
        torch._foreach_lerp_(moved, towards, tau)
    else:
        for each, other in zip(moved, towards, strict=True):
            each.lerp_(other, tau)
    for each, other in zip(*_pairs("buffers", list(target.buffers()), list(source.buffers())), strict=True):
        each.copy_(other)


def _pairs(what: str, target: list[Tensor], source: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    shapes = [[tuple(each.shape) for each in tensors] for tensors in (target, source)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"the {what} of target have shapes {shapes[0]}, expected those of source, {shapes[1]}")
    return target, source


def _check_members(members: Sequence[nn.Module]) -> None:
    first, seen = members[0], set[int]()
    if next(first.parameters(), None) is None:
        raise ValueError("make() returned a module without parameters, expected a network")
    for i, member in enumerate(members):
        # repr() shows classes, sizes and options, all the way down
        if repr(member) != repr(first) or _shapes(member) != _shapes(first):
            raise ValueError(f"network {i} differs from the first, expected the same structure:\n{member}\n{first}")
        own = {id(parameter) for parameter in member.parameters()}
        if own & seen:
            raise ValueError("make() returned the same parameters twice, expected a new network at every call")
        seen |= own


def _shapes(module: nn.Module) -> list[tuple[str, torch.Size, torch.dtype]]:
    return [(name, each.shape, each.dtype) for name, each in module.state_dict(keep_vars=True).items()]
