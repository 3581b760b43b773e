from rldebug.evidence.env_contract import EnvContract, Failure, Misfit, Picture
from rldebug.rules.environment.render_broken import RenderBroken
from tests.judge import fires, quiet

FLOATS = Misfit("render()", "an array (6, 6, 3) of float64", "uint8", "reset()", 0, 1, 1)
MODE = Misfit("render_mode", "None", "'rgb_array'", "make()", 0, 1, 1)
RAISED = Failure("render()", 0, "NameError", "NameError: grid (env.py:9)", file="env.py", line=9)


def contract(**facts):
    return EnvContract("e", pictures=(Picture("rgb_array", **facts),))


def test_fires_on_floats():
    assert fires(RenderBroken(), contract(misfit=FLOATS)).severity == "warning"


def test_fires_where_render_raises_with_its_line():
    assert fires(RenderBroken(), contract(failure=RAISED)).where.line == 9


def test_fires_as_a_note_when_the_mode_is_forgotten():
    assert fires(RenderBroken(), contract(misfit=MODE)).severity == "note"


def test_fires_as_a_note_when_the_picture_stands_still():
    assert fires(RenderBroken(), contract(frames=12, different=0, obs_different=36)).severity == "note"


def test_quiet_when_pictures_follow_the_state():
    quiet(RenderBroken(), contract(frames=12, different=3, obs_different=36))


def test_quiet_when_something_is_not_installed():
    missing = Failure("render()", 0, "DependencyNotInstalled", "pygame", file="env.py", line=9, installation=True)
    quiet(RenderBroken(), contract(failure=missing))
