"""[tool.rldebug]: what is read, what is refused and in which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from rldebug.config import Config, ConfigError, read_config


def written(text: str, folder: Path | None = None) -> Path:
    folder = folder or Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_no_file_no_table_no_wishes():
    assert read_config() == Config()
    written("[project]\nname = 'mine'\n[tool.black]\nline-length = 100\n")
    assert read_config() == Config()


def test_an_empty_table_asks_for_nothing():
    file = written("[tool.rldebug]\n")
    assert read_config() == Config(source=f"[tool.rldebug] in {file}")


def test_everything_there_is_to_ask_for():
    file = written(
        """
        [tool.rldebug]
        select = ["ENT001", "policy-loss-sign-flipped"]
        ignore = ["entropy-collapse"]
        nursery = true
        [tool.rldebug.rules.entropy-collapse]
        floor = 0.02
        readings = 30
        [tool.rldebug.rules.ENT002]
        readings = 7
        """
    )
    assert read_config() == Config(
        select=("ENT001", "policy-loss-sign-flipped"),
        ignore=("entropy-collapse",),
        nursery=True,
        rules={"entropy-collapse": {"floor": 0.02, "readings": 30}, "ENT002": {"readings": 7}},
        source=f"[tool.rldebug] in {file}",
    )


def test_the_nearest_table_above_is_the_one_that_counts(tmp_path):
    written("[tool.rldebug]\nnursery = true\n", tmp_path)
    written("[project]\nname = 'inner'\n", tmp_path / "a")
    (tmp_path / "a" / "b").mkdir()
    assert read_config(tmp_path / "a" / "b").nursery
    written("[tool.rldebug]\nnursery = false\n", tmp_path / "a")
    assert not read_config(tmp_path / "a" / "b").nursery
    assert read_config(tmp_path).nursery


def test_a_pyproject_that_is_a_folder_is_passed_over(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    assert read_config(tmp_path) == Config()


@pytest.mark.parametrize("text", ["tool = 3", "tool = ['rldebug']", ""])
def test_other_peoples_oddities_are_no_concern_of_ours(text):
    written(text)
    assert read_config() == Config()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[tool]\nrldebug = 3", "expected a table"),
        ("[tool.rldebug]\nselct = []", "unknown key 'selct', expected one of ignore, nursery, rules, select"),
        ("[tool.rldebug]\nselect = 'ENT001'", 'select must be a list of codes or names, like ["entropy-collapse"]'),
        ("[tool.rldebug]\nignore = [1]", "ignore must be a list of codes or names"),
        ("[tool.rldebug]\nnursery = 'yes'", "nursery must be true or false"),
        ("[tool.rldebug]\nrules = 1", "rules must hold one table per rule, like [tool.rldebug.rules.entropy-collapse]"),
        ("[tool.rldebug.rules]\nentropy-collapse = 0.1", "rules must hold one table per rule"),
    ],
)
def test_nonsense_is_refused_with_the_file_and_what_was_expected(text, told):
    file = written(text)
    with pytest.raises(ConfigError) as refused:
        read_config()
    assert str(refused.value).startswith(f"[tool.rldebug] in {file}: ")
    assert told in str(refused.value)


@pytest.mark.parametrize("junk", [b"[tool.rldebug", b"\xff\xfe\x00", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_named(junk):
    Path("pyproject.toml").write_bytes(junk)
    with pytest.raises(ConfigError, match=r"pyproject\.toml cannot be read: "):
        read_config()
