import re

import pytest

from rldebug.benchmark.choose import tenth
from rldebug.benchmark.corpus import CorpusError, read_corpus
from tests.benchmark import tiny


def test_a_corpus_is_read_with_its_labels(tmp_path):
    corpus = read_corpus(tiny.write(tmp_path))
    assert [each.id for each in corpus.cases] == [
        "quick/healthy@1",
        "quick/healthy@2",
        "quick/healthy@3",
        "quick/never-learns",
        "quick/raises",
        "quick/gae-leaks",
        "quick/other-words",
        "quick/too-short",
    ]
    assert [each.name for each in corpus.bugs] == ["never-learns", "raises", "gae-leaks"]
    assert corpus.bugs[0].components == ("environment", "buffer")
    assert corpus.bugs[1].crash == "ZeroDivisionError"
    assert corpus.controls[-1].lacks == "budget"
    assert {each.learned for each in corpus.cases} == {90.0}


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("quick", 8),
        ("quick/raises", 1),
        ("quick/healthy", 3),
        ("quick/healthy@2", 1),
        ("*/*a*", 6),
    ],
)
def test_patterns_name_cases(tmp_path, pattern, named):
    assert len(read_corpus(tiny.write(tmp_path)).only([pattern]).cases) == named


def test_a_pattern_that_names_nothing_is_an_error_and_so_is_a_half_without_programs(tmp_path):
    corpus = read_corpus(tiny.write(tmp_path))
    with pytest.raises(CorpusError, match=r"no case .* is called slow"):
        corpus.only(["slow"])
    with pytest.raises(CorpusError, match="no program is left"):
        corpus.only(half="development")
    assert len(corpus.only(half="validation").cases) == 8


@pytest.mark.parametrize(
    ("part", "old", "new", "said"),
    [
        ("base", 'half = "validation"', 'half = "third"', "half is 'third', expected development or validation"),
        ("base", 'entry = "train.py"', 'entry = "main.py"', "entry is 'main.py', and there is no such file"),
        ("base", "(-?[\\d.]+)", "-?[\\d.]+", "score has 0 groups"),
        ("base", "learned = 90.0", "learned = 9.0", "expected more than random"),
        ("base", "learned = 90.0", "lerned = 90.0", "nothing is called lerned; did you mean learned?"),
        ("base", "learned = 90.0", "", "learned missing"),
        ("bugs", '"environment", "buffer"', '"enviroment"', r"components are \['enviroment'\], expected some of"),
        ("bugs", 'sources = ["class"]', "sources = []", "sources is empty"),
        ("bugs", '"raises"', '"never-learns"', "the name occurs twice"),
        ("bugs", 'why = "It earns half."', "", "missing 1 required positional argument: 'why'"),
        ("bugs", "[[bug]]", "[[bug]", "bugs.toml: "),
        ("controls", 'lacks = "budget"', 'lacks = "luck"', "lacks is 'luck', expected budget or hard environment"),
    ],
)
def test_what_is_wrong_in_a_corpus_is_said_with_its_place(tmp_path, part, old, new, said):
    texts = {"base": tiny.BASE, "bugs": tiny.BUGS, "controls": tiny.CONTROLS}
    assert old in texts[part]
    texts[part] = texts[part].replace(old, new, 1)
    with pytest.raises(CorpusError, match=said) as error:
        read_corpus(tiny.write(tmp_path, **texts))
    assert re.match(r"quick/(base|bugs|controls)\.toml", str(error.value))


def test_a_folder_without_programs_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match="no such folder"):
        read_corpus(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match=r"holds no \*/base\.toml"):
        read_corpus(tmp_path)


def test_the_tenth_is_stratified_and_the_same_each_time(tmp_path):
    more = "".join(
        f'[[bug]]\nname = "n{place}"\ncomponents = ["{component}"]\nsources = ["class"]\nwhy = "x"\n'
        f'[[bug.replace]]\nold = "score = 100.0"\nnew = "score = {place}.0"\n'
        for place, component in enumerate(["buffer"] * 20 + ["network"] * 20)
    )
    corpus = read_corpus(tiny.write(tmp_path, bugs=more))
    part = tenth(corpus)
    assert sorted(each.components[0] for each in part.bugs) == ["buffer"] * 2 + ["network"] * 2
    assert len(part.controls) == 1
    assert tenth(corpus) == part
