import numpy as np

from tests.rules.generations import found, lacking, rounds, sound

CODE = "ADV514"


def test_fires_on_the_fault():
    (finding,) = found(
        CODE,
        rounds(
            sound(),
            reward=lambda each: (each.column("group") == each.number % 4) * (np.arange(len(each)) % 9 == 1) * 1.0,
        ),
    )
    assert finding.component == "advantage"
    assert finding.seen


def test_quiet_where_all_is_well():
    assert not found(CODE, sound())
    assert not found(CODE, rounds(sound(), reward=lambda each: (np.arange(len(each)) % 4 == 0) * 1.0))
    assert lacking(CODE, sound(rounds=4))


def test_tells_too_hard_from_too_easy():
    hard = rounds(sound(), reward=lambda each: (np.arange(len(each)) + each.number == 5) * 1.0)
    easy = rounds(sound(), reward=lambda each: (np.arange(len(each)) + each.number != 5) * 1.0)
    assert "easier prompts" in found(CODE, hard)[0].help
    assert "harder prompts" in found(CODE, easy)[0].help
