from dataclasses import replace

from rldebug.evidence.machine import Trial
from rldebug.rules.installation.mujoco_cannot_draw import MujocoCannotDraw
from tests.judge import quiet
from tests.rules.machines import machine, names

FAILED = Trial("mujoco as set", "error", "opening a renderer", "FatalError: an OpenGL platform library is not loaded")
NO_SCREEN = replace(FAILED, name="mujoco glfw")
NO_EGL = Trial("mujoco egl", "error", "importing mujoco", "ImportError: cannot initialize EGL")


def test_fires_as_a_note_when_the_default_does_not_draw():
    finding = names(MujocoCannotDraw(), machine(FAILED, NO_SCREEN))
    assert finding.severity == "note"
    assert finding.seen.startswith("MUJOCO_GL is not set; opening a renderer: FatalError")
    assert finding.help.startswith("set MUJOCO_GL=egl")


def test_fires_as_a_warning_when_what_was_chosen_does_not_draw():
    own = replace(NO_EGL, name="mujoco as set")
    finding = names(MujocoCannotDraw(), machine(own, NO_EGL, variables={"MUJOCO_GL": "egl"}))
    assert finding.severity == "warning"
    assert finding.help.startswith("set MUJOCO_GL=glfw")


def test_fires_when_the_picture_is_black():
    black = Trial("mujoco as set", facts={"bright": 0})
    assert "black" in names(MujocoCannotDraw(), machine(black)).seen


def test_it_says_what_to_install_when_none_draws():
    assert "libosmesa6" in names(MujocoCannotDraw(), machine(FAILED, NO_SCREEN, NO_EGL)).help


def test_quiet_when_it_draws_as_it_is_set():
    quiet(MujocoCannotDraw(), machine(NO_SCREEN, variables={"MUJOCO_GL": "egl"}))


def test_quiet_when_drawing_is_switched_off():
    quiet(MujocoCannotDraw(), machine(FAILED, variables={"MUJOCO_GL": "disable"}))
