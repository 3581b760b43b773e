"""Crash: the exception that ended a program, where it was raised, and what lay there."""

from __future__ import annotations

import builtins
import json
import linecache
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

from rldebug.evidence.crashes.between import between_of
from rldebug.evidence.crashes.facts import Fact
from rldebug.evidence.crashes.frames import Frame as Frame
from rldebug.evidence.crashes.frames import Level, frames_of, own_frame, shortened, unparsed, walk
from rldebug.evidence.crashes.graph import graph_of
from rldebug.evidence.crashes.layer import layer_of
from rldebug.evidence.crashes.nan import first_nan
from rldebug.evidence.crashes.origin import is_ours, is_own, module_of
from rldebug.evidence.crashes.sizes import sizes_of
from rldebug.evidence.crashes.text import BEGIN, NOTE, Told, bare_in, is_raise, plain, telling, told_in, warned_in
from rldebug.finding import Where

_LONGEST = 2000  # characters of a message


@dataclass(frozen=True)
class Crash:
    """How a program came to its end by an exception. Shapes, types and places; no data."""

    type: str  # ValueError, gymnasium.error.ResetNeeded
    message: str
    bases: tuple[str, ...] = ()  # the classes the exception inherits from
    chain: tuple[tuple[str, str], ...] = ()  # type and message of the exceptions before this one, the root last
    notes: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()  # from the outermost in
    layer: Fact | None = None  # the layer of torch.nn that was being called
    sizes: Mapping[str, str] = field(default_factory=dict)  # what the sizes in the message are in this program
    nan: Fact | None = None  # the value that became NaN first, and the line that made it
    between: Mapping[str, Any] = field(default_factory=dict)  # what was sent to another process, who does not answer
    env_steps: int | None = None
    updates: int | None = None
    graph: Mapping[str, Any] = field(default_factory=dict)  # which tensor an error of autograd is about, and its lines
    warning: bool = False  # it was only warned of: the program went on

    @property
    def own(self) -> tuple[Frame, ...]:
        return tuple(frame for frame in self.frames if frame.own)

    @property
    def at(self) -> Frame | None:
        """The innermost frame of the user's own code."""
        return self.own[-1] if self.own else None

    @property
    def last(self) -> Frame | None:
        """The frame that raised, or called what raised."""
        return self.frames[-1] if self.frames else None

    @property
    def where(self) -> Where:
        frame = self.at or self.last
        return Where(
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            update=self.updates,
            env_step=self.env_steps,
        )

    @property
    def said(self) -> str:
        """`ValueError: …`, one line."""
        text = " ".join(self.message.split())
        name = self.type.rpartition(".")[2]
        return f"{name}: {text[:197]}…" if len(text) > 200 else f"{name}: {text}" if text else name

    def says(self, *patterns: str) -> bool:
        return any(re.search(each, self.message) for each in patterns)

    def is_a(self, *names: str) -> bool:
        """Whether the exception is of one of these classes, or inherits from one."""
        return bool({self.type.rpartition(".")[2], *self.bases} & set(names))

    def inside(self, *modules: str) -> bool:
        """Whether one of these packages was being called from the user's innermost line, or raised."""
        after = self.frames[self.frames.index(self.at) + 1 :] if self.at else self.frames
        return any(frame.module == each or frame.module.startswith(f"{each}.") for frame in after for each in modules)

    def operands(self) -> dict[str, Fact]:
        """The names in the user's line that failed, with what they held."""
        return {name: self.at.facts[name] for name in self.at.operands if name in self.at.facts} if self.at else {}

    def held(self, *kinds: str) -> Iterator[tuple[Frame, str, Fact]]:
        """Every fact of these kinds, from the innermost frame out."""
        for frame in reversed(self.frames):
            for name, fact in frame.facts.items():
                if fact.get("kind") in kinds:
                    yield frame, name, fact

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Crash:
        frames = tuple(
            Frame(**{**each, "operands": tuple(each["operands"]), "bases": tuple(each["bases"])})
            for each in data["frames"]
        )
        return Crash(
            type=str(data["type"]),
            message=str(data["message"]),
            bases=tuple(data["bases"]),
            chain=tuple((str(kind), str(text)) for kind, text in data["chain"]),
            notes=tuple(data["notes"]),
            frames=frames,
            layer=data["layer"],
            sizes=data.get("sizes") or {},
            nan=data.get("nan"),
            between=data.get("between") or {},
            graph=data.get("graph") or {},
            env_steps=data["env_steps"],
            updates=data["updates"],
            warning=bool(data.get("warning")),
        )


def is_crash(error: BaseException | None) -> bool:
    """Ctrl-C and sys.exit() end a program as they are meant to."""
    return isinstance(error, Exception)


def crash_of(error: BaseException, *, env_steps: int | None = None, updates: int | None = None) -> Crash:
    """All that is wanted of an exception. Nothing of the program is kept alive by it, and it never raises."""
    chain = list(_chain(error))
    root = _telling(chain)
    if (child := _in_a_worker(root, env_steps, updates)) is not None:
        return replace(child, chain=((_name(root), "raised in another process"),))
    before = tuple((_name(each), _text(each)) for each in chain if each is not root)
    notes = tuple(str(each)[:_LONGEST] for each in getattr(error, "__notes__", ()) or ())
    levels = walk(root.__traceback__)
    try:
        frames = frames_of(levels) + unparsed(root)
    except Exception:  # half of a program that has failed: better the message alone than nothing
        frames = ()
    told = Crash(
        type=_name(root),
        message=_text(root),
        bases=tuple(each.__name__ for each in type(root).__mro__[:-2]),
        chain=before,
        notes=tuple(each for each in notes if not each.lstrip().startswith(NOTE)),
        frames=frames,
        env_steps=env_steps,
        updates=updates,
    )
    return _looked_at(told, levels, root)


def crash_of_warning(
    text: str, category: type[Warning], frame: FrameType | None, *, env_steps: int | None, updates: int | None
) -> Crash:
    """What a warning was given for, as if the program had ended there."""
    levels: list[Level] = []
    while frame is not None:
        levels.append((frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    levels = shortened(levels[::-1])
    try:
        frames = frames_of(levels)
    except Exception:
        frames = ()
    told = Crash(
        type=category.__name__,
        message=plain(text)[:_LONGEST],
        bases=tuple(each.__name__ for each in category.__mro__[:-2]),
        frames=frames,
        env_steps=env_steps,
        updates=updates,
        warning=True,
    )
    return _looked_at(told, levels, None)


def _looked_at(crash: Crash, levels: list[Level], error: BaseException | None) -> Crash:
    """With what is seen in the live frames beyond each of them by itself. A look fills the field of its name; one that
    fails, or finds nothing, leaves it as it is."""
    frames = [frame for frame, _, _ in levels]
    own = [frame for frame in frames if own_frame(frame)]
    met = [size for fact in crash.operands().values() for size in fact.get("shape", ())]
    looks: dict[str, Callable[[], Any]] = {
        "layer": lambda: layer_of(frames),
        "between": lambda: between_of(error, levels) if error is not None else None,
        "graph": lambda: graph_of(crash.message, levels),
        "sizes": lambda: sizes_of(crash.message, own, met),
        "nan": lambda: (
            first_nan(own) if crash.says("(?i)nan|constraint|probabilit|non-finite|positive-definite|support") else None
        ),
    }
    told: dict[str, Any] = {}
    for name, look in looks.items():
        try:
            told[name] = look()
        except Exception:
            continue
    return replace(crash, **{name: each for name, each in told.items() if each})


def read_crash(folder: Path | str) -> Crash | None:
    """The crash that a run folder tells of; None where the program ended well, or nothing can be read."""
    try:
        stored = json.loads((Path(folder) / "run.json").read_bytes()).get("crash")
        return Crash.from_dict(stored) if stored else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None  # a hand may have been at work


def read_warnings(folder: Path | str) -> tuple[Crash, ...]:
    """The warnings that a program was given while it ran."""
    try:
        stored = json.loads((Path(folder) / "run.json").read_bytes()).get("warnings") or ()
        return tuple(Crash.from_dict(each) for each in stored)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those it was raised from."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen and len(seen) < 8:
        seen.add(id(each))
        yield each
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)


def _telling(chain: list[BaseException]) -> BaseException:
    """The one to look at. `raise RuntimeError("training failed") from error` in the user's own code tells nothing, and
    what it was raised from does; a library that does so has put the better text on top."""
    told = chain[0]
    for before in chain[1:]:
        raised_by = walk(told.__traceback__)[-1:]
        if not raised_by or not own_frame(raised_by[0][0]) or before.__traceback__ is None:
            break
        frame, line, _ = raised_by[0]
        # In an except that fails by itself, the later error is the one to mend.
        if told.__cause__ is not before and not is_raise(linecache.getline(frame.f_code.co_filename, line)):
            break
        told = before
    return told


def _in_a_worker(root: BaseException, env_steps: int | None, updates: int | None) -> Crash | None:
    """The worker's own exception, where this is how its parent was told of it: in the message, in the cause, or in what
    the function that raised it holds."""
    texts = [_text(root), _text(root.__cause__) if root.__cause__ is not None else ""]
    inner = [frame for frame, _, _ in walk(root.__traceback__)][-1:]
    if inner and not own_frame(inner[0]):
        texts += [each for each in inner[0].f_locals.values() if isinstance(each, str) and BEGIN in each][-1:]
    # A queue is fed by a thread of this very process, and what it met has its frames still.
    texts = [each for each in texts if each and "in _feed\n" not in each]
    told = (crash_from_text(text, env_steps=env_steps, updates=updates) for text in texts)
    return next((each for each in told if each is not None), None)


def _name(error: BaseException) -> str:
    kind = type(error)
    return (
        kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__qualname__}"
    )


def _text(error: BaseException) -> str:
    try:
        return plain(str(error))[:_LONGEST]  # Gymnasium colours its warnings
    except Exception:
        return ""


# ── a traceback that is only text ───────────────────────────────────────────────────────────────────────────────────


def crash_from_text(text: str, *, env_steps: int | None = None, updates: int | None = None) -> Crash | None:
    """What a printed traceback tells: places and the message, no facts. None where there is no traceback in it."""
    streams = told_in(text) if BEGIN in text or "ray::" in text else []
    return _of_text(*telling(streams, _own_file), env_steps, updates) if streams else None


def crashes_from_text(text: str) -> tuple[Crash, ...]:
    """As much as any text tells: the error to look at, else its warnings, else a line that reads like an error."""
    if streams := told_in(text):
        return (_of_text(*telling(streams, _own_file)),)
    if warned := warned_in(text):
        return tuple(_of_text(each) for each in warned)
    bare = bare_in(text)
    return (_of_text(bare),) if bare is not None else ()


def _own_file(file: str) -> bool:
    return is_own(file, module_of(file))


def _of_text(told: Told, rest: Sequence[Told] = (), env_steps: int | None = None, updates: int | None = None) -> Crash:
    frames = []
    for level in told.levels:
        module = module_of(level.file)
        own, shown = is_own(level.file, module), level.source[:300]
        if not is_ours(level.file):
            frames.append(Frame(level.file, level.line, level.function, module, own, source=shown, expression=shown))
    kind = told.type.removeprefix("builtins.")
    known = getattr(builtins, kind, None)
    return Crash(
        type=kind,
        message=told.message[:_LONGEST],
        bases=tuple(each.__name__ for each in known.__mro__[:-2]) if isinstance(known, type) else (),
        chain=tuple((each.type, each.message[:_LONGEST]) for each in rest[:7]),
        frames=tuple(frames),
        env_steps=env_steps,
        updates=updates,
        warning=told.warning,
    )
