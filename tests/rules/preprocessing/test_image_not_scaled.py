from rldebug.evidence.run import Run
from rldebug.rules.preprocessing.image_not_scaled import ImageNotScaled
from tests.judge import fires, not_enough, quiet


def run(output, low=0.0, high=255.0, integers=1.0, tables=True):
    numbers = {
        "obs/min": [low] * 4,
        "obs/max": [high] * 4,
        "obs/mean": [80.0] * 4,
        "obs/std": [60.0] * 4,
        "obs/integers": [integers] * 4,
    }
    layers = {"policy.conv1": [0.1 * output, output, 4 * output, float("nan"), float("nan")]}
    return Run.from_series(numbers, tables={"layers": layers} if tables else None)


def test_fires_when_the_first_layer_puts_out_numbers_as_large_as_pixels():
    found = fires(ImageNotScaled(), run(45.0))
    assert "policy.conv1" in found.seen


def test_quiet_when_the_network_divides_by_255_itself():
    quiet(ImageNotScaled(), run(0.3))


def test_quiet_when_images_are_scaled_before():
    quiet(ImageNotScaled(), run(0.3, high=1.0, integers=0.1))


def test_quiet_when_large_observations_are_no_bytes():
    quiet(ImageNotScaled(), run(45.0, low=-20.0, high=230.5, integers=0.0))


def test_declines_when_no_layer_was_seen():
    not_enough(ImageNotScaled(), run(45.0, tables=False))
