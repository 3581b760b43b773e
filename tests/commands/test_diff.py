from pathlib import Path

from tests.commands.conftest import SOUND, write_run


def test_a_run_is_the_same_as_itself(rldebug, sound):
    said = rldebug("diff", "sound", sound)
    assert said.status == 0
    assert "the same on 63 updates recorded in both" in said.out


def test_the_first_update_and_the_first_reading_are_named(rldebug, sound):
    other = {**SOUND, "value/mean": [1.0] * 63}
    write_run(Path("a"), other)
    write_run(Path("b"), {name: [*each[:20], *(x + 1 for x in each[20:])] for name, each in other.items()}, seed=2)
    said = rldebug("diff", "a", "b")
    assert said.status == 1
    assert "the runs part at update 20 (1 280 env steps): episode/return_mean first, in the environment" in said.out
    assert said.out.index("episode/return_mean") < said.out.index("policy/entropy_rel")
    assert [line.split() for line in said.out.splitlines() if line.split()[:1] == ["seed"]] == [["seed", "1", "2"]]


def test_float_noise_is_looked_past_where_asked(rldebug, sound):
    write_run(Path("noisy"), {name: [x * (1 + 1e-7) for x in each] for name, each in SOUND.items()})
    said = rldebug("diff", "sound", "noisy")
    assert said.status == 1
    assert "--tolerance" in said.out
    assert rldebug("diff", "sound", "noisy", "--tolerance", "1e-5").status == 0


def test_what_cannot_be_compared(rldebug, sound):
    assert rldebug("diff", "sound", "nowhere").status == 2
    assert rldebug("diff", "sound", "sound", "--tolerance", "-1").status == 2
