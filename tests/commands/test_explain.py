import pytest

from rldebug import catalogue
from rldebug.render.explain import page


@pytest.mark.parametrize("name", ["ENT001", "ent001", "entropy-collapse"])
def test_a_rule_by_code_or_name(rldebug, name):
    said = rldebug("explain", name)
    assert said.status == 0
    assert "ENT001 entropy-collapse" in said.out
    assert "Likely causes" in said.out
    assert "severity: warning" in said.out


def test_thresholds_come_with_the_comment_behind_them(rldebug):
    assert "floor      0.05     share of the maximum entropy" in rldebug("explain", "ENT001").out


def test_a_metric_by_any_of_its_names(rldebug):
    for name in ("value/mean", "value/max"):
        said = rldebug("explain", name)
        assert said.status == 0
        assert "value/mean · value/std" in said.out
        assert "dbg.update(value=…)" in said.out


def test_the_nearest_are_suggested(rldebug):
    said = rldebug("explain", "entropy-colapse")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("rldebug: no entry called 'entropy-colapse'; did you mean entropy-collapse")
    assert "rldebug catalogue" in rldebug("explain", "xyzzy").err


def test_every_entry_has_a_page():
    for entry in (*catalogue.rules(), *catalogue.metrics()):
        text = page(entry)
        assert text.startswith("# ")
        assert entry.summary() in text


def test_piped_output_has_no_colours(rldebug):
    assert "\x1b" not in rldebug("explain", "ENT001").out


@pytest.mark.parametrize(
    ("word", "says"), [("log.txt", "no such file"), ("runs/log", "no such file"), (".", "a folder")]
)
def test_a_file_that_is_not_there_is_said_to_be_none(rldebug, word, says):
    said = rldebug("explain", word)
    assert said.status == 2
    assert says in said.err
