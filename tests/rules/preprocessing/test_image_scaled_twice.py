from rldebug.evidence.env_contract import EnvContract
from rldebug.rules.preprocessing.image_scaled_twice import ImageScaledTwice
from tests.judge import fires, quiet


def test_fires_on_multiples_of_one_in_65025():
    assert "0.0039" in fires(ImageScaledTwice(), EnvContract("e", pixel_levels=0.0039)).seen


def test_quiet_on_other_images():
    quiet(ImageScaledTwice(), EnvContract("e", steps=4000))
