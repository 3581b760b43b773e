"""There is no screen to draw on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rldebug.evidence.crash import Crash
from rldebug.finding import Finding, Severity
from rldebug.rule import Rule

_WINDOW = 'make the environment with render_mode="rgb_array", or without rendering; else start it under xvfb-run'
_MUJOCO = "set MUJOCO_GL=egl (with a GPU) or MUJOCO_GL=osmesa (without) in the environment before mujoco is imported"
_TEXTS = (
    ("No available video device|video system not initialized", "set SDL_VIDEODRIVER=dummy, or " + _WINDOW),
    ("gladLoadGL|an OpenGL platform library has not been loaded|[Cc]ould not initialize GLFW", _MUJOCO),
    (
        "Cannot initialize a EGL device|eglQueryString|\\bEGL\\b.*(fail|error|not)|PLATFORM_DEVICE extension",
        "EGL wants the libraries of the GPU's driver (libegl1) and access to the device; else MUJOCO_GL=osmesa",
    ),
    (
        "(?i)osmesa|glGetError|GL/osmesa.h|Unable to load OpenGL library",
        "install libosmesa6 and libgl1, and set MUJOCO_GL=osmesa; with a GPU MUJOCO_GL=egl",
    ),
    ("No OpenGL backend could be imported", _MUJOCO),
    (
        "X11: The DISPLAY environment|(?i:(cannot|could not|couldn't) connect to (the )?(x server|display))",
        _WINDOW,
    ),
    ("no display name and no \\$DISPLAY", 'call matplotlib.use("Agg") before pyplot is imported'),
    ("libGL\\.so\\.1: cannot open", "install libgl1, or opencv-python-headless in place of opencv-python"),
)


@dataclass(frozen=True, kw_only=True)
class DisplayMissing(Rule):
    """There is no screen to draw on.

    ## What it checks
    Opening a window or a context of OpenGL failed.

    ## Why it matters
    Servers, containers and most notebooks have no display. Training does not need one; rendering does.

    ## Likely causes
    1. `render_mode="human"` on a machine without a display. Confirm: `echo $DISPLAY` is empty.
    2. MuJoCo draws through GLFW, which wants a window. Confirm: `echo $MUJOCO_GL`.
    3. The libraries of EGL or OSMesa are not installed. Confirm: the message names them.

    ## What to try first
    Use `render_mode="rgb_array"`; for MuJoCo set `MUJOCO_GL=egl` with a GPU, `osmesa` without, before it is imported.

    ## When it is fine
    Never: the program has ended.

    ## References
    MuJoCo, *Rendering*; SDL, `SDL_VIDEODRIVER`.
    """

    code: ClassVar[str] = "INS442"
    name: ClassVar[str] = "display-missing"
    severity: ClassVar[Severity] = "error"
    reads: ClassVar[str] = "Crash"

    def concerns(self, evidence: Crash) -> bool:
        return any(evidence.says(pattern) for pattern, _ in _TEXTS) or evidence.is_a("NoSuchDisplayException")

    def check(self, evidence: Crash) -> Iterator[Finding]:
        if not self.concerns(evidence):
            return
        helps = [help for pattern, help in _TEXTS if evidence.says(pattern)]
        yield self.finding(
            "there is no display to draw on",
            where=evidence.where,
            seen=evidence.said,
            expected="rendering that needs no window, or a machine with a display",
            help=helps[0] if helps else _WINDOW,
            confidence=0.9,
        )
