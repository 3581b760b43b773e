"""Looks: what the first layer of a network is given when it acts, now and then, beside the raw observation.

A look is due after a number of calls of an environment. Then what the innermost environment returns is kept at each
call, before any wrapper has changed it, and hooks wait for the next network that is called on as many rows as there
are observations. The first layer with weights tells what it is given; one row is kept, and the hooks are gone again.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules import module as module_hooks
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from rldebug.capture.env_calls import shared_by
from rldebug.capture.env_facts import attribute
from rldebug.capture.env_results import host
from rldebug.capture.gallery import Gallery
from rldebug.capture.modules import compiling, transformed
from rldebug.capture.networks import GROUP, _keep_quiet
from rldebug.capture.pictures import array_of, picture_of

_PATIENCE = 256  # networks that are called on something else, before the look is put off
_CALLS = 64  # of environments, without a network that acts: they are played at random for now
_NEVER = 1 << 62


class Looks:
    def __init__(self, session: Any, gallery: Gallery) -> None:
        self.session, self.gallery = session, gallery
        gallery.took = session.took
        self._next = 0  # calls of environments
        self._armed = False
        self._handles: list[Any] = []
        self._here = threading.local()
        self._waited = self._until = 0
        self._inside: tuple[int, int, Any] | None = None  # thread, environment, observation; of the call under way
        self._raw: tuple[int, int, Any] | None = None  # of the last call
        session.looks = self
        session.on_finish.append(self.end)

    def met(self, calls: int) -> int:
        """After an environment was called, before that is logged; when it wants to be called again."""
        if self._armed or calls >= self._next:
            self.session._safely("frames", self._met)
        return 0 if self._armed else self._next

    def _met(self) -> None:
        if not self.session.switch.on(GROUP) or not self.session.options.overhead_budget or compiling():
            self.end()
        elif self._armed and self.session.log.calls >= self._until:
            self._put_off()
        elif self._armed:
            self._raw, self._inside = self._inside, None
            self._wait()
        else:
            self._armed, self._waited, self._until = True, 0, self.session.log.calls + _CALLS
            shared_by(self.session.switch, self.session.told).within = self._within

    def begin(self) -> None:
        """Before the first call of an environment: its first reset is seen too."""
        self.met(0)

    def end(self) -> None:
        self._disarm()
        self._next = _NEVER

    # ── what the innermost environment returns ──────────────────────────────────────────────────────────────────────

    def _within(self, told: str, original: Any, env: Any, args: Any, kwargs: Any) -> Any:
        """A call within another. Of several environments the first counts; of its calls the last, which is shown."""
        result = original(env, *args, **kwargs)
        if self._armed and told in ("step", "reset"):
            self.session.switch.guard("environments", self._returned, env, result)
        return result

    def _returned(self, env: Any, result: Any) -> None:
        thread = threading.get_ident()
        if self._inside is not None and self._inside[:2] != (thread, id(env)):
            return
        obs = host(result[0] if isinstance(result, tuple) and result else result)
        lanes = attribute(env, "num_envs")
        if isinstance(lanes, int) and isinstance(obs, np.ndarray) and obs.shape[:1] == (lanes,):
            obs = obs[0]
        self._inside = (thread, id(env), _copied(obs))

    # ── what the first layer is given ───────────────────────────────────────────────────────────────────────────────

    def _wait(self) -> None:
        self._here = threading.local()
        if self._handles:
            return
        _keep_quiet()
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after),
        ]

    def _disarm(self) -> None:
        for handle in self._handles:
            handle.remove()
            getattr(module_hooks, "_global_forward_hooks_with_kwargs", {}).pop(handle.id, None)
        self._handles = []
        self._inside = self._raw = None
        if self._armed:
            self._armed = False
            shared_by(self.session.switch, self.session.told).within = True

    def _put_off(self) -> None:
        self._next = self.gallery.next_due(self.session.log.calls)
        self._disarm()
        if self.gallery.problem is not None:
            self._next = _NEVER
        self.session.log.wake_at = 0

    # Hooks run inside the user's forward pass: they return None, whatever happens.

    def _before(self, module: nn.Module, args: Any) -> None:
        if not self._armed or torch.compiler.is_compiling():
            return
        stack = getattr(self._here, "stack", None)
        if stack is None:
            stack = self._here.stack = []
        if not stack:
            self._here.asked, self._here.found = False, None
        stack.append(id(module))
        if self._here.asked or module._modules or not module._parameters:
            return
        self._here.asked = True  # of each network, the first layer only
        self.session.switch.guard(GROUP, self._saw, module, args)

    def _after(self, module: nn.Module, args: Any, output: Any) -> None:
        stack = getattr(self._here, "stack", None)
        while stack and stack.pop() != id(module):
            pass  # an exception in a forward pass leaves frames behind
        if stack is not None and not stack and self._armed and self._here.found is not None:
            # Now: by the end of its first call, a network that is new has got its name.
            found, self._here.found = self._here.found, None
            self.session.switch.guard(GROUP, self._keep, module, *found)

    def _saw(self, layer: nn.Module, args: Any) -> None:
        self._waited += 1
        if self._waited > _PATIENCE or self.gallery.problem is not None:
            self._put_off()
            return
        given = next((each for each in args if isinstance(each, Tensor)), None)
        if given is None or not given.numel() or transformed():
            return
        row, rows = _first_row(layer, given, self.session.log)
        if row is None or not self._acts_on(given, rows):
            return
        current = self.session.log.current(rows)
        seen = current[0].obs
        newest = self.session.log.newest
        alone = newest is not None and len(current) == len(newest.current)  # not several that are called in turn
        if alone and self._raw is not None and self._raw[0] == threading.get_ident():
            seen = self._raw[2]
        self._here.found = (layer, row.clone(), seen)  # it may be changed in place further on

    def _keep(self, network: nn.Module, layer: nn.Module, row: Tensor, seen: Any) -> None:
        registry = self.session.registry
        names = [registry.known(network), *registry.owners(map(id, layer.parameters())), type(network).__name__]
        self.gallery.keep("network", next(each for each in names if each), _like(seen, row), row)
        self._put_off()

    def _acts_on(self, given: Tensor, rows: int) -> bool:
        """Not where it is told for certain that these are other observations."""
        session = self.session
        found, how = session.matcher.rows([given])
        if how == "none" or len(found) != rows or (found < 0).all():
            return True
        return bool(session.networks._is_acting(found))


def _first_row(layer: nn.Module, given: Tensor, log: Any) -> tuple[Any, int]:
    """What belongs to the first observation, and of how many; None where the rows are others."""
    given = given.detach()
    if given.dim() <= 1 and not isinstance(layer, nn.Embedding):
        return (given, 1) if len(log.current(1)) == 1 else (None, 0)
    if given.dim() == 3 and isinstance(layer, nn.Conv2d):
        return (given, 1) if len(log.current(1)) == 1 else (None, 0)
    if given.dim() == 0:
        return (given, 1) if len(log.current(1)) == 1 else (None, 0)
    rows = len(given)
    if len(log.current(rows)) == rows:
        return given[0], rows
    if given.dim() > 2 and rows == 1 and len(log.current(given.shape[1])) == given.shape[1]:
        return given[0, 0], given.shape[1]  # a sequence of length one, time first
    return None, 0


def _copied(obs: Any) -> Any:
    if isinstance(obs, dict):
        return {key: _copied(each) for key, each in obs.items()}
    if isinstance(obs, (tuple, list)):
        return [_copied(each) for each in obs]
    return array_of(obs)


def _like(obs: Any, row: Any) -> Any:
    """Of an observation with several parts the one that is like what the network is given: a picture, or as large."""
    parts = list(obs.values()) if isinstance(obs, dict) else obs if isinstance(obs, list) else [obs]
    arrays = [each for each in parts if isinstance(each, np.ndarray)]
    if len(arrays) < 2:
        return arrays[0] if arrays else None
    given = array_of(row)
    if given is None:
        return arrays[0]
    shown = picture_of(given) is not None
    return min(arrays, key=lambda each: ((picture_of(each) is not None) != shown, abs(each.size - given.size)))
