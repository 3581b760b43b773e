"""Clips: the agent seen playing, an episode at a time, from when its user asks for it until they ask again.

Stands before the log: what environments tell passes by here. While nobody asks, a step costs a look at the clock. While
somebody does, steps are drawn as often as their time allows: a share of the wall clock, some of it in advance, so that
an episode that is over in no time is seen whole, and those after it are not.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rldebug.capture.clip_writer import FRAMES, ClipWriter
from rldebug.capture.rendering import CannotRenderError, Rendering
from rldebug.capture.toggle import Toggle, keys_of
from rldebug.capture.viewer import Viewer, can_show
from rldebug.launch import as_typed

_SHARE = 0.2  # of the time may go into drawing
_AHEAD = 1.0  # seconds of drawing, in advance
_RATE = 15.0  # frames a second
_FRAMES_AHEAD = 300.0
_LEFT_ALONE = 3.0  # seconds in which only others are played: one of them takes its place


class Pace:
    """How much may be drawn now."""

    def __init__(self) -> None:
        self._seconds, self._frames, self._then = _AHEAD, _FRAMES_AHEAD, time.monotonic()
        self._cost = 0.0

    def ready(self) -> bool:
        """For another episode."""
        self._refill()
        return self._seconds >= _AHEAD / 2 and self._frames >= _FRAMES_AHEAD / 2

    def allows(self) -> bool:
        self._refill()
        return self._seconds > 0 and self._frames >= 1

    def took(self, seconds: float) -> None:
        self._seconds -= seconds
        self._frames -= 1
        self._cost = max(seconds, 0.5 * (seconds + self._cost)) if not self._cost else 0.5 * (seconds + self._cost)

    def gap(self, length: float) -> int:
        """Steps from one frame to the next, in an episode of this length."""
        frames = min(FRAMES - 1, self._frames, self._seconds / max(self._cost, 1e-4))
        return max(1, math.ceil(length / max(frames, 1)))

    def _refill(self) -> None:
        now = time.monotonic()
        passed, self._then = now - self._then, now
        self._seconds = min(self._seconds + _SHARE * passed, _AHEAD)
        self._frames = min(self._frames + _RATE * passed, _FRAMES_AHEAD)


class Episode:
    """The one that is played, of the first lane; drawn or not."""

    def __init__(self, gap: int, told: dict[str, Any] | None) -> None:
        self.gap, self.told = gap, told  # told: of the clip, None where it is not drawn
        self.length, self.total, self.drawn = 0, 0.0, 0


class Clips:
    """`log` is what environments tell; this goes before it."""

    def __init__(
        self,
        log: Any,
        writer: ClipWriter,
        toggle: Toggle,
        clock: Callable[[], dict[str, Any]],
        say: Callable[[str], None],
    ) -> None:
        self.log, self.writer, self.toggle, self.clock, self._say = log, writer, toggle, clock, say
        self.on = False
        self.problems: list[str] = []
        self._off = False  # for good
        self._stream: Any = None  # the one that is shown
        self._others = math.inf  # since when only others are played
        self._rendering: Rendering | None = None
        self._rendered: Any = None  # the environment that it renders
        self._episode: Episode | None = None
        self._told_where = False
        self._between = False  # its episode has ended; the next call begins another
        self._length = 0.0  # of its episodes, lately
        self._pace = Pace()
        if hasattr(log, "quick_step"):
            self.quick_step = self._quick_step
        if hasattr(log, "light"):
            self.light = self._light

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["log"], name)

    # ── what environments tell ──────────────────────────────────────────────────────────────────────────────────────

    def step(self, env: Any, action: Any, obs: Any, reward: Any, ended: Any, cut: Any, final: Any) -> None:
        self.log.step(env, action, obs, reward, ended, cut, final)
        self._guarded(self._stepped, env, reward, ended, cut)

    def _quick_step(
        self, env: Any, stream: Any, action: Any, obs: Any, reward: Any, ended: Any, cut: Any, *more: Any
    ) -> None:
        self.log.quick_step(env, stream, action, obs, reward, ended, cut, *more)
        self._guarded(self._stepped, env, reward, ended, cut)

    def _light(self, known: Any, result: Any) -> bool:
        read: bool = self.log.light(known, result)
        if read:
            self._guarded(self._stepped, known.inner(), *result[1:4])
        return read

    def reset(self, env: Any, obs: Any, seed: Any, lanes: int, mask: Any = None) -> None:
        self.log.reset(env, obs, seed, lanes, mask)
        if mask is None or mask[0]:
            self._guarded(self._reset, env)

    def _guarded(self, look: Callable[..., None], *args: Any) -> None:
        if self._off:
            return
        try:
            now = time.monotonic()
            if now >= self.toggle.due:
                self._poll(now)
            if self.on or self._episode is not None:
                look(*args)
        except CannotRenderError as error:
            self._give_up(f"{self._name()} cannot be rendered: {error}")
        except Exception as error:
            self._give_up(f"rendering is switched off: {type(error).__name__}: {error}")

    # ── on and off ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _poll(self, now: float) -> None:
        asked = self.toggle.asked(now)
        if self.writer.problem is not None:
            self._give_up(self.writer.problem)
            return
        viewer = self.writer.viewer
        if viewer is not None and viewer.closed:
            self.writer.viewer = None
            asked = self.on  # to close the window is to ask
        if not asked:
            return
        self.on = not self.on
        how = "r" if self.toggle.keys is not None else "touching the file again"
        if self.on:
            self._say(f"rldebug: rendering from the next episode on ({how} stops it)")
            self._stream, self._others, self._between = self._chosen(), math.inf, False
            if not self._told_where:
                self._told_where = True
                where = f"clips are recorded under {as_typed(self.writer.folder)}"
                self._say(f"rldebug: {where}" if viewer is not None else f"rldebug: no display: {where}")
        else:
            self._say("rldebug: rendering stops at the end of the episode")
            if self._episode is None or self._episode.told is None:
                self._rest()

    def _chosen(self) -> Any:
        """The first environment that is learned from, as far as is known; else the first."""
        streams = [each for each in self.log.streams if each.calls]
        return next((each for each in streams if each.learned), streams[0] if streams else None)

    def _give_up(self, why: str) -> None:
        self._off, self.on = True, False
        self.problems.append(why)
        self._say(f"rldebug: {why}")
        self._finish("stopped")
        self.toggle.close()

    def finish(self) -> None:
        """The program has ended."""
        self.toggle.close()
        if not self._off:
            self._off = True
            self._finish("stopped")
        self._rest()
        self.writer.close()
        if self.writer.problem is not None and self.writer.problem not in self.problems:
            self.problems.append(self.writer.problem)

    # ── episodes ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _is_shown(self, env: Any) -> bool:
        stream, now = self.log.stream_of(env), time.monotonic()
        if stream is not self._stream:
            self._others = min(self._others, now)
            if stream is None or now - self._others < _LEFT_ALONE:
                return False
            self._finish("stopped")  # it is gone, or is not played any more
            self._stream, self._between, self._length = stream, False, 0.0
        self._others = math.inf
        return True

    def _reset(self, env: Any) -> None:
        if self._is_shown(env):
            self._finish("stopped")
            self._begin(env)

    def _stepped(self, env: Any, reward: Any, ended: Any, cut: Any) -> None:
        if not self._is_shown(env):
            return
        ended, cut = _first(ended), _first(cut)
        if self._between:  # a step that only resets
            self._begin(env)
            return
        episode, stream = self._episode, self._stream
        done = bool(ended or cut)
        renewed = done and (stream.autoreset == "same-step" or bool(stream.facts.get("resets_itself")))
        if episode is not None:
            episode.length += 1
            episode.total += float(_first(reward))
            if episode.told is not None and not renewed and self._due(episode, done):
                self._draw(env, episode)
        if done:
            self._finish("terminated" if ended else "truncated")
        if renewed:
            self._begin(env)
        elif done:
            self._between = stream.autoreset == "next-step"

    def _due(self, episode: Episode, done: bool) -> bool:
        due = done or episode.length - episode.drawn >= episode.gap
        return due and self._pace.allows()

    def _begin(self, env: Any) -> None:
        self._between, self._episode = False, None
        if not self.on:
            return
        told = None
        if self._pace.ready():
            if self._rendered is not env:
                self._rendering, self._rendered = Rendering(env), env
            told = self.clock()
        episode = self._episode = Episode(self._pace.gap(self._length), told)
        if told is not None and self._rendering is not None:
            self.writer.begin(self._rendering.fps)
            self._draw(env, episode)

    def _draw(self, env: Any, episode: Episode) -> None:
        assert self._rendering is not None
        start = time.monotonic()
        pixels = self._rendering.picture()
        self._pace.took(time.monotonic() - start)
        episode.drawn = episode.length
        self.writer.frame(pixels, episode.length)

    def _finish(self, ended: str) -> None:
        episode, self._episode = self._episode, None
        if episode is None:
            return
        if ended != "stopped":
            self._length = episode.length if not self._length else 0.7 * self._length + 0.3 * episode.length
        if episode.told is None:
            return
        total = episode.total if math.isfinite(episode.total) else None
        told = {**episode.told, "return": total, "length": episode.length, "env": self._name(), "ended": ended}
        self.writer.end(told if episode.length else None)  # it was reset, and reset again
        if not self.on:
            self._rest()

    def _rest(self) -> None:
        self._episode = self._rendering = self._rendered = None
        self.writer.rest()

    def _name(self) -> str:
        return str(getattr(self._stream, "name", "the environment"))


def _first(value: Any) -> Any:
    """Of the first lane."""
    return np.ravel(value)[0].item() if isinstance(value, (np.ndarray, list, tuple)) else value


def clips_of(session: Any, folder: Path, script: str | None, say: Callable[[str], None]) -> Clips:
    """Of a program that is watched; `script` is its text, where it has one."""
    shown = can_show()
    toggle = Toggle(folder / "toggle-render", keys_of(script))
    touch = f"`touch {as_typed(toggle.file)}`"
    say(f"rldebug: {'the key r or ' if toggle.keys is not None else ''}{touch} shows the agent playing")

    def clock() -> dict[str, Any]:
        seconds = round(time.monotonic() - session.started, 3)
        return {"update": session.updates, "env_step": session.log.steps, "seconds": seconds}

    writer = ClipWriter(folder / "clips", Viewer(folder.name) if shown else None)
    return Clips(session.told, writer, toggle, clock, say)
