import json
from dataclasses import replace

import pytest

from rldebug.benchmark.ask import Answers, Question, ask
from rldebug.benchmark.corpus import CorpusError, read_corpus
from rldebug.benchmark.questions import answer_all, measure_all, questions
from rldebug.benchmark.shelf import find, find_peer, means, peers
from tests.benchmark import tiny

PEER = '''\
"""A peer that reads the program."""
import json, pathlib, sys
case, report = sys.argv[1:]
told = json.loads(pathlib.Path(case).read_text())
text = pathlib.Path(told["entry"]).read_text()
findings = []
if "score = 30.0" in text:
    findings.append({"code": "low", "component": "environment", "severity": "warning", "message": "low",
                     "where": {"file": "train.py", "line": 16, "env_step": None}})
why = "it raises" if "/ 0" in text else ""
if "lam * acc" in text:
    raise SystemExit("no idea")
pathlib.Path(report).write_text(json.dumps({"findings": findings, "not_applicable": why}))
'''


@pytest.fixture
def corpus(tmp_path):
    folder = tiny.write(tmp_path)
    (folder.parent / "peers").mkdir()
    (folder.parent / "peers" / "a_reader.py").write_text(PEER)
    (folder.parent / "peers" / "recorder.py").write_text("")
    return read_corpus(folder)


def here(work, tasks):
    return ((each, work(each, False)) for each in tasks)


def silent(done, of, result):
    pass


def test_rldebug_is_asked_as_a_user_would_ask_it(corpus):
    cases = {each.name: each for each in corpus.cases}
    found = ask(Question(cases["gae-leaks"], "rldebug", "verify"))
    assert (found.how, found.suspects[0][0]) == ("answered", "advantage")
    assert (found.findings[0].file, found.findings[0].severity) == ("train.py", "error")
    sound = ask(Question(cases["healthy"], "rldebug", "verify"))
    assert (sound.how, sound.findings) == ("answered", ())


def test_what_cannot_be_asked_says_why(corpus):
    case = corpus.bugs[0]
    for name in ("probe", "env", "watch"):
        found = ask(Question(case, "rldebug", name))
        assert (found.how, bool(found.could_not)) == ("does not apply", True)
    absent = replace(case, base=replace(case.base, needs=("rldebug_nolib",)))
    assert ask(Question(absent, "rldebug", "verify")).could_not == "rldebug_nolib not installed"
    gone = replace(case, base=replace(case.base, verify={"gae": "train.py:compute_advantage"}))
    found = ask(Question(gone, "rldebug", "verify"))
    assert found.how == "failed"
    assert "train.py has no compute_advantage" in found.could_not


def test_a_peer_is_asked_by_its_script(corpus):
    asked = questions(corpus, ["a-reader"])
    answers = {each.case: each for each in (ask(each) for each in asked)}
    assert answers["quick/never-learns"].suspects == (("environment", 0.5),)
    assert answers["quick/raises"].could_not == "it raises"
    assert (answers["quick/gae-leaks"].how, answers["quick/gae-leaks"].could_not) == ("failed", "no idea")
    assert answers["quick/other-words"].findings == ()


def test_a_benchmark_that_was_stopped_goes_on_where_it_was(corpus, tmp_path):
    file = tmp_path / "answers.jsonl"
    asked = questions(corpus, ["a-reader"])

    def stopped(work, tasks):
        yield from list(here(work, list(tasks)[:3]))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_all(asked, Answers(file), stopped, silent)
    with file.open("a") as opened:
        opened.write('{"case": "quick/')  # killed while it wrote
    done = []
    found = answer_all(asked, Answers(file), here, lambda at, of, each: done.append(each.case))
    assert (len(found), len(done)) == (8, 5)
    assert len(answer_all(asked, Answers(file), stopped_at_once, silent)) == 8
    # Another text of the program, or another version of the tool, is asked about anew.
    script = corpus.folder.parent / "peers" / "a_reader.py"
    script.write_text(PEER + "# newer\n")
    from rldebug.benchmark import ask as module

    module._digest_of.cache_clear()
    assert len(Answers(file).open(asked)) == 8


def stopped_at_once(work, tasks):
    assert list(tasks) == []
    return iter(())


def test_a_peer_that_looks_at_returns_is_told_them_without_its_own_seed(corpus):
    measured = measure_all(corpus.only(["quick/healthy", "quick/never-learns"]), None, here, silent)
    assert [each.score for each in measured["quick/never-learns"]] == [32.0, 33.0, 34.0]
    asked = {each.case.id: each.measured for each in questions(corpus, ["a-reader"])}
    assert asked["quick/never-learns"] == {
        "healthy": [102.0, 103.0, 104.0, 105.0, 106.0],
        "this": [32.0, 33.0, 34.0],
        "random": 10.0,
    }
    assert asked["quick/healthy@2"] == {"healthy": [102.0, 104.0, 105.0, 106.0], "this": [103.0], "random": 10.0}


def test_the_shelf(corpus):
    assert {"env", "probe", "verify", "watch"} <= {each.name for each in means()}
    assert list(peers(corpus.folder)) == ["a-reader"]
    with pytest.raises(CorpusError, match="no means is called ask: expected env, lint, probe"):
        find("ask")
    with pytest.raises(CorpusError, match="no tool is called b: expected rldebug, a-reader"):
        find_peer(corpus.folder, "b")


def test_answers_are_plain_lines(corpus, tmp_path):
    file = tmp_path / "deep" / "answers.jsonl"
    answer_all(questions(corpus.only(["quick/never-learns"]), ["a-reader"]), Answers(file), here, silent)
    (line,) = file.read_text().splitlines()
    assert json.loads(line)["suspects"] == [["environment", 0.5]]
