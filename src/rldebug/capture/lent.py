"""Networks that are lent their weights for a call, as torch.func and TensorDict do it: the weights tell who is called.

One module then stands for several networks: with its own weights it is the one that learns, with those of a moving
average the target network. For each set of weights that is not a known network's there is a twin of the module, which
holds them and is never called. Weights that were computed, as those of an inner loop of learning, are nobody's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from weakref import ReferenceType, ref

import torch
from torch import Tensor, nn

from rldebug.capture.registry import Registry

_MANY = 4  # sets of weights of one module; a program that makes new ones for each call has no networks of them


class Lent:
    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        # id of a module -> where its own lie, and which parameters those are
        self.own: dict[int, tuple[ReferenceType[nn.Module], tuple[int, ...], tuple[int, ...]]] = {}
        self.twins: dict[tuple[int, ...], nn.Module] = {}
        self.made: Counter[int] = Counter()  # twins of each module, by its id

    def network(self, module: nn.Module) -> nn.Module:
        """Itself, or the network whose weights it was lent."""
        known = self.own.get(id(module))
        own = known[1] if known is not None and known[0]() is module else None
        if not is_lent(module):
            these = tuple(id(each) for each in module.parameters())
            if own is None or known is None or known[2] != these:
                # Parameters may be lent as they are; or it was given new ones for good, as for another task.
                places = _places(module)
                if (other := self._of_others(module, places)) is not None:
                    return other
                self.own[id(module)] = (ref(module), places, these)
            return module
        places = _places(module)
        if places == own:
            return module  # its own, without their gradients
        twin = self.twins.get(places)
        if twin is None:
            for _, other in self.registry.living():
                if other is not module and _places(other) == places:
                    return other
            if self.made[id(module)] >= _MANY or any(each.grad_fn is not None for _, _, each in weights_in(module)):
                return module
            self.made[id(module)] += 1
            twin = self.twins[places] = twin_of(module)
        return twin

    def _of_others(self, module: nn.Module, places: tuple[int, ...]) -> nn.Module | None:
        """The network whose weights these are, in layers of its own: one around the same layers is the same network."""
        layers = {id(each) for each in module.modules()}
        for _, other in self.registry.living() if places else ():
            if other is not module and _places(other) == places and layers.isdisjoint(map(id, other.modules())):
                return other
        return None


def is_lent(module: nn.Module) -> bool:
    for each in module.modules():
        own = vars(each)["_parameters"]
        if any(isinstance(given, Tensor) and not isinstance(given, nn.Parameter) for given in own.values()):
            return True
        # Not in its place. A layer that computes its weight from others, to normalise it, has those.
        if isinstance(vars(each).get("weight"), Tensor) and not any(isinstance(own[name], Tensor) for name in own):
            return True
    return False


def weights_in(module: nn.Module) -> Iterator[tuple[nn.Module, str, Tensor]]:
    """Of each part, what it is called, and the tensor; under torch.vmap that of all members of an ensemble."""
    for part in module.modules():
        for name, value in (*vars(part)["_parameters"].items(), *vars(part).items()):
            if isinstance(value, Tensor) and (name in vars(part)["_parameters"] or name.startswith(("weight", "bias"))):
                yield part, name, inside(value)


def inside(tensor: Tensor) -> Tensor:
    """What lies under the wrappings of torch.func, the mapped axis first."""
    functorch: Any = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        axis = functorch.maybe_get_bdim(tensor) if functorch.is_batchedtensor(tensor) else -1
        tensor = functorch.get_unwrapped(tensor)
        if axis > 0:
            tensor = tensor.movedim(axis, 0)
    return tensor


def twin_of(module: nn.Module) -> nn.Module:
    twin: nn.Module = object.__new__(type(module))
    given = {name: tensor for part, name, tensor in weights_in(module) if part is module}
    vars(twin).update({name: value for name, value in vars(module).items() if name not in given})
    vars(twin)["_parameters"] = given
    vars(twin)["_modules"] = {
        name: None if part is None else twin_of(part) for name, part in vars(module)["_modules"].items()
    }
    return twin


def _places(module: nn.Module) -> tuple[int, ...]:
    """Where its weights lie in memory: a detached one lies where the one that learns does."""
    return tuple(each.data_ptr() for _, _, each in weights_in(module) if _readable(each))


def _readable(tensor: Tensor) -> bool:
    return not tensor.is_meta and not tensor.is_sparse and type(tensor) in (Tensor, nn.Parameter)
