import importlib
import sys
from dataclasses import replace

import pytest

from rldebug.benchmark.corpus import Change, CorpusError, read_corpus
from rldebug.benchmark.program import changed_lines, diff, digest, lay_out
from tests.benchmark import tiny


@pytest.fixture
def cases(tmp_path):
    return {each.id: each for each in read_corpus(tiny.write(tmp_path)).cases}


def test_a_program_is_laid_out_with_its_substitution_and_its_seed_and_without_its_labels(cases, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    lay_out(replace(cases["quick/never-learns"], seed=7), folder)
    assert [each.name for each in folder.iterdir()] == ["train.py"]
    text = (folder / "train.py").read_text()
    assert "score = 30.0" in text
    assert "SEED = 7" in text
    assert "score = 100.0" not in text


def test_lines_are_those_of_the_changed_program_and_the_seed_is_none_of_them(cases):
    assert changed_lines(cases["quick/never-learns"]) == {"train.py": (16,)}
    assert changed_lines(replace(cases["quick/never-learns"], seed=9)) == {"train.py": (16,)}
    gone = replace(cases["quick/never-learns"], changes=(Change("    score = 100.0\n", "", "train.py"),))
    assert changed_lines(gone) == {"train.py": (16,)}


def test_the_diff_shows_nothing_but_the_mistake(cases):
    told = diff(cases["quick/gae-leaks"], context=0).splitlines()
    assert [each for each in told if each[0] in "+-" and not each.startswith(("+++", "---"))] == [
        "-        acc = delta + gamma * lam * (1 - dones[t]) * acc",
        "+        acc = delta + gamma * lam * acc",
    ]


def test_another_text_or_seed_is_another_program(cases):
    known = {digest(each) for each in cases.values()}
    assert len(known) == len(cases)
    assert digest(cases["quick/raises"]) in known


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("score = 200.0", "score = 1.0", "found 0 times"),
        ("score", "points", "found [0-9]+ times"),
        ("score = 100.0", "score = 100.0", "changes nothing"),
        ("score = 100.0", "score = (100.0", r"train\.py:16: "),
    ],
)
def test_a_substitution_that_does_not_fit_is_an_error(cases, tmp_path, old, new, said):
    wrong = replace(cases["quick/raises"], changes=(Change(old, new, "train.py"),))
    with pytest.raises(CorpusError, match=said):
        lay_out(wrong, tmp_path)


def test_of_several_occurrences_one_can_be_meant(cases):
    change = Change("adv[t], following", "following, adv[t]", "train.py")
    case = replace(cases["quick/raises"], changes=(change,))
    again = Change("rewards[t]", "rewards[0]", "train.py", nth=1)
    assert changed_lines(replace(case, changes=(again,))) == {"train.py": (9,)}
    twice = Change("values[t]", "values[0]", "train.py", nth=2)
    assert changed_lines(replace(case, changes=(twice,))) == {"train.py": (11,)}
    with pytest.raises(CorpusError, match="found 2 times"):
        changed_lines(replace(case, changes=(replace(twice, nth=3),)))


def test_a_bug_in_a_library_lies_beside_the_program_and_shadows_it(cases, tmp_path, monkeypatch):
    site = tmp_path / "site"
    (site / "rldebug_somelib" / "deep").mkdir(parents=True)
    for file, text in {
        "__init__.py": "",
        "deep/__init__.py": "",
        "deep/gain.py": "GAIN = 1\n",
        "other.py": "X = 1\n",
    }.items():
        (site / "rldebug_somelib" / file).write_text(text)
    monkeypatch.syspath_prepend(str(site))
    change = Change("GAIN = 1", "GAIN = 2", "rldebug_somelib/deep/gain.py")
    folder = tmp_path / "out"
    folder.mkdir()
    case = replace(cases["quick/raises"], changes=(change,))
    lay_out(case, folder)
    assert changed_lines(case) == {"rldebug_somelib/deep/gain.py": (1,)}
    assert (site / "rldebug_somelib" / "deep" / "gain.py").read_text() == "GAIN = 1\n"
    monkeypatch.syspath_prepend(str(folder))
    for name in [each for each in sys.modules if each.startswith("rldebug_somelib")]:
        monkeypatch.delitem(sys.modules, name)
    assert importlib.import_module("rldebug_somelib.deep.gain").GAIN == 2
    assert importlib.import_module("rldebug_somelib.other").X == 1


def test_a_file_of_nobody_is_an_error(cases, tmp_path):
    with pytest.raises(CorpusError, match="not installed"):
        lay_out(replace(cases["quick/raises"], changes=(Change("a", "b", "rldebug_nolib/x.py"),)), tmp_path)
    with pytest.raises(CorpusError, match="neither a file of the base nor one of an installed package"):
        lay_out(replace(cases["quick/raises"], changes=(Change("a", "b", "missing.py"),)), tmp_path)
