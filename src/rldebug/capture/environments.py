"""Environments of Gymnasium: every subclass of Env, Wrapper and VectorEnv, made by `make` or by hand, now or later.

Gymnasium is never imported for a program that does without. Old `gym` has the same classes and is watched likewise.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from rldebug.capture.env_calls import GROUP, shared_by
from rldebug.capture.env_watch import Known, Watch
from rldebug.capture.imports import when_imported
from rldebug.capture.switch import Switchboard

_PACKAGES = ("gymnasium", "gym")
_ASYNC = {"step_async": "send", "step_wait": "wait", "reset_async": "send_reset", "reset_wait": "wait_reset"}


class Gymnasium(Watch):
    def wrap(self, cls: type) -> None:
        super().wrap(cls)
        if _vector(cls):
            for name, told in _ASYNC.items():
                self.wrap_method(cls, name, told)

    def lanes_of(self, env: Any) -> tuple[int, bool]:
        return (int(getattr(env, "num_envs", 1)), True) if _vector(type(env)) else (1, False)

    def kind_of(self, known: Known) -> str:
        return "gymnasium-vector" if known.vector else "gymnasium"


def _vector(cls: type) -> bool:
    return any(base.__name__ == "VectorEnv" for base in cls.__mro__)  # in old gym it is a subclass of Env


def install(switch: Switchboard, log: Any) -> None:
    watch = Gymnasium(shared_by(switch, log))

    def cover_core(core: ModuleType) -> None:
        watch.cover(core.Env)
        watch.wrap_method(core.Wrapper, "__init__", "create")

    for package in _PACKAGES:
        when_imported(switch, GROUP, f"{package}.core", cover_core)
        when_imported(switch, GROUP, f"{package}.vector.vector_env", lambda module: watch.cover(module.VectorEnv))
