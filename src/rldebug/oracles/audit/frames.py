"""A user's frame stack, driven: as a wrapper around an environment, as a class of its own, or as a function."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rldebug.oracles.audit.coding import Form, Given
from rldebug.oracles.audit.make import _KINDS, Stuck, construct, parameters
from rldebug.oracles.audit.names import MAKE, METHODS, role
from rldebug.oracles.audit.read import array_of

K = 3
EPISODES = (5, 3, 5)  # frames of each, the first that of reset
ORDER = ("frames", "env", "capacity")
Frame = NDArray[Any]


def frame(episode: int, step: int, shape: tuple[int, ...], vector: bool) -> Frame:
    """All of one brightness, which says episode and step, but for its first pixel."""
    value = 20 * (episode + 1) + step + 1
    made = np.full(shape, value, dtype=np.float32 if vector else np.uint8)
    made.ravel()[0] = value + 100
    return made


@dataclass
class Shown:
    """What came back at one reset or step."""

    episode: int
    step: int
    stack: NDArray[Any]
    given: Any = None  # the very object that was returned


@dataclass
class Play:
    shape: tuple[int, ...]
    batched: bool = False  # with an axis of environments
    k: int | None = K  # None: it was not told, and uses a number of its own
    mapping: dict[str, str] = field(default_factory=dict)
    shown: list[Shown] = field(default_factory=list)
    how: str = ""


class Film:
    """A gymnasium-like environment whose observations are frames; every episode is cut off after its last."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012
    reward_range = (-np.inf, np.inf)
    spec = None
    render_mode = None

    def __init__(self, shape: tuple[int, ...]) -> None:
        from gymnasium import spaces

        self.shape, self.episode, self.at = shape, -1, 0
        high = 255.0 if len(shape) == 1 else 255
        self.observation_space = spaces.Box(0, high, shape, np.float32 if len(shape) == 1 else np.uint8)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Frame, dict[str, Any]]:
        self.episode, self.at = self.episode + 1, 0
        return self.now(), {}

    def step(self, action: Any) -> tuple[Frame, float, bool, bool, dict[str, Any]]:
        self.at += 1
        return self.now(), 1.0, self.at + 1 == EPISODES[self.episode % len(EPISODES)], False, {}

    def now(self) -> Frame:
        return frame(self.episode, self.at, self.shape, len(self.shape) == 1)

    def close(self) -> None:
        pass


def film(shape: tuple[int, ...]) -> Any:
    import gymnasium

    kind = type("Film", (Film, gymnasium.Env), {})
    return kind(shape)


def play(target: Any, shape: tuple[int, ...], given: Given) -> Play:
    played = Play(shape)
    form = Form(shape=shape, pixels=len(shape) > 1, flat_dims=len(shape) == 1)
    if inspect.isfunction(target) and not _makes(target, given):
        push = _function(target, given, shape, played)
        reset = None
    else:
        asked = parameters(target, target if inspect.isclass(target) else None) if callable(target) else {}
        takes_env = [name for name in asked if (given.get(name) or role(name, MAKE, ORDER)) == "env"]
        wants = {"frames": K, "env": film(shape) if takes_env else None, "envs": 1}
        wants = {name: value for name, value in wants.items() if value is not None}
        made, played.mapping = construct(target, wants, form, given, ORDER)
        if callable(target) and not any(text == f"frames = {K}" for text in played.mapping.values()):
            played.k = None
        if takes_env:
            _wrapped(made, played)
            return played
        reset, push = _methods(made, given, played)
        if any(text == "envs = 1" for text in played.mapping.values()):
            played.batched = True
            _side_by_side(played, reset, push)
            return played
    vector = len(shape) == 1
    for episode, count in enumerate(EPISODES):
        for step in range(count):
            new = frame(episode, step, shape, vector)
            out = reset(new) if step == 0 and reset is not None else push(new, step == 0)
            _show(played, episode, step, out)
    return played


def _side_by_side(played: Play, reset: Callable[[Frame], Any] | None, push: Callable[..., Any]) -> None:
    """With an axis of environments, here of one: reset once, and later told with the first frame that it is one."""
    for episode, count in enumerate(EPISODES):
        for step in range(count):
            new = frame(episode, step, played.shape, len(played.shape) == 1)[None]
            out = reset(new) if reset is not None and episode == step == 0 else push(new, np.array([step == 0]))
            _show(played, episode, step, out)


def _show(played: Play, episode: int, step: int, out: Any) -> None:
    array = as_stack(out)
    if array is None:
        raise Stuck(
            f"what it returns is not understood: expected a stack of {K} frames, as an array or a list of frames"
        )
    played.shown.append(Shown(episode, step, array.copy(), out))


def as_stack(out: Any) -> NDArray[Any] | None:
    if isinstance(out, tuple) and len(out) == 2 and (isinstance(out[1], (dict, deque)) or out[1] is None):
        out = out[0]
    if isinstance(out, tuple) and out and isinstance(out[0], np.ndarray) and len(out) in (4, 5):
        out = out[0]
    if isinstance(out, deque):
        out = list(out)
    array = array_of(out)
    if array is None and hasattr(out, "__array__"):
        array = np.asarray(out)
    return None if array is None or array.ndim == 0 else array


def _wrapped(env: Any, played: Play) -> None:
    played.how = "as a wrapper around an environment"
    for episode, count in enumerate(EPISODES):
        out = env.reset()
        if isinstance(out, tuple) and len(out) == 2:
            out = out[0]
        _show(played, episode, 0, out)
        for step in range(1, count):
            _show(played, episode, step, env.step(0)[0])


def _makes(target: Any, given: Given) -> bool:
    """A function that makes a frame stack, and not one that stacks."""
    asked = {given.get(name) or role(name, MAKE, ORDER) for name in parameters(target)}
    return "env" in asked or not parameters(target)


_FRAME = "frame obs observation state new_frame image x img ob next_frame new_obs s screen"
_NEW = "dones news is_new_episode new_episode is_new reset is_reset first is_first done new start episode_start begin"
_HELD = "stacked_frames frames stack queue buffer memory frame_buffer history stacked deque frame_stack frame_queue"
_ROLES = {
    "held": _HELD,
    "new": _NEW,
    "frame": _FRAME,
    "frames": "k n n_frames num_frames stack_size n_stack nstack num_stack",
}


def _function(target: Any, given: Given, shape: tuple[int, ...], played: Play) -> Callable[[Frame, bool], Any]:
    roles = {
        name: given.get(name) or role(name, _ROLES, ("frame",))
        for name, p in parameters(target).items()
        if p.kind in _KINDS
    }
    if not {"held", "frame"} <= set(roles.values()):
        raise Stuck(
            "expected a wrapper (env, k), a class with reset(frame) and append(frame), or a function such as "
            "stack_frames(stacked_frames, frame, is_new_episode)"
        )
    played.mapping = {name: str(what) for name, what in roles.items()}
    played.k = K if "frames" in roles.values() else None
    played.how = "as a function"
    zeros = np.zeros(shape, np.uint8 if len(shape) > 1 else np.float32)
    box: dict[str, Any] = {"held": deque([zeros] * K, maxlen=K)}

    def push(new: Frame, first: bool) -> Any:
        values = {"held": box["held"], "frame": new, "new": first, "frames": K}
        out = target(**{name: values[what] for name, what in roles.items() if what in values})
        if isinstance(out, tuple) and len(out) == 2:
            rest = [each for each in out if isinstance(each, (deque, list))]
            box["held"] = rest[0] if rest else out[1]
            return next((each for each in out if not isinstance(each, (deque, list))), out[0])
        box["held"] = (
            out if not isinstance(out, deque) and out is not None and "new" not in roles.values() else box["held"]
        )
        return box["held"] if out is None else out

    return push


def _methods(
    made: Any, given: Given, played: Play
) -> tuple[Callable[[Frame], Any] | None, Callable[[Frame, bool], Any]]:
    def found(what: str, *, frame_needed: bool) -> tuple[str, Callable[..., Any]] | None:
        names = [given[what]] if what in given else METHODS[what].split()
        for name in names:
            each = getattr(made, name, None)
            if callable(each) and (not frame_needed or parameters(each)):
                return name, each
        return None

    push = found("frame", frame_needed=True)
    if push is None:
        raise Stuck(
            f"{type(made).__name__} has no method like append, push, add or step that takes a frame. Name it "
            f"with --map frame=METHOD, or write an adapter:\nclass Mine({type(made).__name__}):\n"
            "    def append(self, frame): return super().METHOD(frame)"
        )
    reset = found("reset", frame_needed=False)
    getter = None
    for name in METHODS["stacked"].split():
        each = getattr(made, name, None)
        if each is not None and name != push[0] and (not callable(each) or not _required(each)):
            getter = name
            break
    played.how = f"{push[0]}(frame)" + (f", {reset[0]}() at the start of an episode" if reset else "")
    played.mapping[f"{push[0]}({next(iter(parameters(push[1])))})"] = "the new frame"

    def shown(out: Any) -> Any:
        if out is not None and as_stack(out) is not None:
            return out
        if getter is None:
            return out
        held = getattr(made, getter)
        return held() if callable(held) else held

    def put(new: Frame, first: bool) -> Any:
        more = {n: first for n in parameters(push[1]) if role(n, {"new": _NEW}) == "new"}
        return shown(push[1](new, **more))

    def start(new: Frame) -> Any:
        assert reset is not None
        if parameters(reset[1]):
            return shown(reset[1](new))
        reset[1]()
        return put(new, True)

    return (start if reset is not None else None), put


def _required(function: Callable[..., Any]) -> list[str]:
    return [n for n, p in parameters(function).items() if p.kind in _KINDS and p.default is inspect.Parameter.empty]


def arranged(frames: Sequence[Frame], way: str) -> NDArray[Any] | None:
    """A list of frames as one array."""
    kind, axis = way.split()
    try:
        return np.stack(frames, int(axis)) if kind == "stack" else np.concatenate(frames, int(axis))
    except (ValueError, np.exceptions.AxisError):
        return None


def ways(shape: tuple[int, ...]) -> tuple[list[str], list[str]]:
    """How frames may be put together, and how they must not."""
    if len(shape) == 1:
        return ["stack 0", "concat 0", "stack -1"], []
    if len(shape) == 2:
        return ["stack 0", "stack -1"], ["stack 1", "concat 0", "concat 1"]
    if shape[0] <= 3:  # channels first
        return ["concat 0", "stack 0"], ["concat 1", "concat 2", "stack -1"]
    return ["concat -1", "stack 0", "stack -1"], ["concat 0", "concat 1", "stack 1"]
