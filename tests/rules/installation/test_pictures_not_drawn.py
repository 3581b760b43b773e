from rldebug.evidence.machine import Trial
from rldebug.rules.installation.pictures_not_drawn import PicturesNotDrawn
from tests.judge import quiet
from tests.rules.machines import machine, names

FAILED = Trial("pygame", "error", "drawing CartPole-v1", "error: kmsdrm not available")


def test_fires_when_cartpole_is_not_drawn():
    finding = names(PicturesNotDrawn(), machine(FAILED, variables={"SDL_VIDEODRIVER": "kmsdrm"}))
    assert "SDL_VIDEODRIVER=kmsdrm" in finding.seen
    assert finding.help == "set SDL_VIDEODRIVER=dummy"


def test_quiet_when_it_is():
    quiet(PicturesNotDrawn(), machine())
