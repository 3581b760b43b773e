"""Settings: defaults, then what is known to work, then what the user says; what does not fit is named."""

from dataclasses import dataclass

import pytest

from rldebug.settings import SettingsError, choose, literals, pairs, read_toml


@dataclass(frozen=True)
class Some:
    lr: float = 1e-3
    gamma: float = 0.99
    steps: int = 128
    anneal: bool = True
    hidden: tuple[int, ...] = (64, 64)
    limit: float | None = None
    scheme: str = "sum"


def test_later_changes_win():
    assert choose(Some, {"lr": 0.5, "steps": 2}, {"lr": "0.25"}) == Some(lr=0.25, steps=2)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("lr", "3e-4", 3e-4),
        ("steps", "1e3", 1000),
        ("anneal", "no", False),
        ("hidden", "32,16", (32, 16)),
        ("hidden", "()", ()),
        ("hidden", "[32, 32]", (32, 32)),
        ("hidden", [8], (8,)),
        ("limit", "none", None),
        ("limit", "0.1", 0.1),
        ("scheme", "mean", "mean"),
    ],
)
def test_texts_are_read_as_the_field_wants(name, text, value):
    assert getattr(choose(Some, {name: text}), name) == value


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"gama": 1}, "no setting 'gama': did you mean gamma"),
        ({"step": 1}, "no setting 'step': did you mean steps"),
        ({"steps": "1.5"}, "steps is '1.5', expected a whole number"),
        ({"lr": "fast"}, "lr is 'fast', expected a number"),
        ({"anneal": "maybe"}, "anneal is 'maybe', expected true or false"),
        ({"steps": 0}, "steps is 0, expected at least 1"),
        ({"lr": "-1"}, "lr is -1, expected at least 0"),
        ({"gamma": 99}, "gamma is 99, expected 0 to 1"),
        ({"hidden": "64,x"}, "hidden is '64,x', expected whole numbers with commas"),
    ],
)
def test_what_does_not_fit_is_named(change, said):
    with pytest.raises(SettingsError, match=said.replace("(", r"\(")):
        choose(Some, change)


def test_pairs_and_literals():
    assert pairs(["ent-coef=0.01", "text=a=b"], "--set") == {"ent_coef": "0.01", "text": "a=b"}
    assert literals(["size=8", "mode=hard", "both=[1, 2]"], "--env-arg") == {"size": 8, "mode": "hard", "both": [1, 2]}
    with pytest.raises(SettingsError, match="--set lr: expected NAME=VALUE"):
        pairs(["lr"], "--set")


def test_a_file_that_is_not_toml(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("lr = = 1")
    with pytest.raises(SettingsError, match="is not TOML"):
        read_toml(file)
