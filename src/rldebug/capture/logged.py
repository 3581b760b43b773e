"""Numbers that the program logs: TensorBoard, tensorboardX, wandb. None of them is imported for it.

They are told as things rather than notes: one line for each name, with as many of its values as tell the curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rldebug.capture.imports import when_imported
from rldebug.capture.place import users_line
from rldebug.capture.stand_in import stand_in

if TYPE_CHECKING:
    from rldebug.capture.session import Session

GROUP = "logging"
KEPT = 512  # values of one name; every other one is dropped when there are more
_TAGS = 256
_LOGGERS = {
    "torch.utils.tensorboard.writer": ("SummaryWriter", "add_scalar"),
    "tensorboardX.writer": ("SummaryWriter", "add_scalar"),
    "wandb.sdk.wandb_run": ("Run", "log"),  # wandb.log becomes this method, of the run that wandb.init makes
}


@dataclass
class Curve:
    """The values of one name, ever further apart: never more than `KEPT`, and always the whole length."""

    line: tuple[str, int] | None
    times: int = 0
    gap: int = 1
    points: list[tuple[int, Any, float]] = field(default_factory=list)  # update, step as given, value

    def add(self, update: int, step: Any, value: float) -> None:
        if self.times % self.gap == 0:
            self.points.append((update, step, value))
            if len(self.points) > KEPT:
                self.points = self.points[::2]
                self.gap *= 2
        self.times += 1


class Logged:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.curves: dict[str, Curve] = {}

    def scalar(self, tag: Any, value: Any, step: Any) -> None:
        number = _number(value)
        if number is None or not isinstance(tag, str):
            return
        curve = self.curves.get(tag)
        if curve is None:
            if len(self.curves) >= _TAGS:
                return
            curve = self.curves[tag] = Curve(users_line())
        curve.add(self.session.updates, _number(step), number)
        if curve.times & (curve.times - 1) == 0:
            self.write(tag, curve)  # what is killed has been told most of it

    def mapping(self, data: Any, step: Any) -> None:
        if isinstance(data, Mapping):
            for tag, value in list(data.items())[:_TAGS]:
                self.scalar(tag, value, step)

    def write(self, tag: str, curve: Curve) -> None:
        self.session.thing("logged", tag, line=curve.line, times=curve.times, points=curve.points)

    def at_finish(self) -> None:
        for tag, curve in self.curves.items():
            self.write(tag, curve)

    def watch(self, module: ModuleType) -> None:
        owner, method = _LOGGERS[module.__name__]
        writer = getattr(module, owner, None)
        if writer is not None and hasattr(writer, method):
            make = self._log if method == "log" else self._add_scalar
            self.session.switch.replace(GROUP, writer, method, make)

    def _add_scalar(self, original: Callable[..., Any]) -> Any:
        def add_scalar(writer: Any, *args: Any, **kwargs: Any) -> Any:
            self.session.switch.guard(GROUP, self._saw_scalar, args, kwargs)
            return original(writer, *args, **kwargs)

        return stand_in(original, add_scalar)

    def _saw_scalar(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        names = ("tag", "scalar_value", "global_step")
        given = dict(zip(names, args, strict=False)) | kwargs
        self.scalar(*(given.get(each) for each in names))

    def _log(self, original: Callable[..., Any]) -> Any:
        def log(run: Any, *args: Any, **kwargs: Any) -> Any:
            given = dict(zip(("data", "step"), args, strict=False)) | kwargs
            self.session.switch.guard(GROUP, self.mapping, given.get("data"), given.get("step"))
            return original(run, *args, **kwargs)

        return stand_in(original, log)


def install(session: Session) -> None:
    logged = Logged(session)
    session.on_finish.append(lambda: session.switch.guard(GROUP, logged.at_finish))
    for name in _LOGGERS:
        when_imported(session.switch, GROUP, name, logged.watch)


def _number(value: Any) -> float | None:
    """As a float where it is one at no cost: no value is fetched from a GPU for it."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value)
    device = getattr(value, "device", None)
    if device is not None and str(getattr(device, "type", device)) != "cpu":
        return None
    if getattr(value, "ndim", None) == 0 or getattr(value, "size", None) == 1:
        try:
            return float(value.item())
        except (AttributeError, TypeError, ValueError, RuntimeError):
            return None
    return None
