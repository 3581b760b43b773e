"""Environments that nothing is learned from, by when they are played."""

import json

import pytest

from rldebug.capture.stopwatch import Stopwatch
from rldebug.evidence.timings.reading import FILE, read_timing


def played(folder, events):
    """a, b …: a step of that environment; |: an update."""
    watch = Stopwatch(folder)
    for name in sorted(set(events) - {"|"}):
        watch.environment(name=name, lanes=1)
    for each in events:
        if each == "|":
            watch.updated()
            continue
        watch.stepped("abcdefgh".index(each), 1)
    watch.write()
    assert json.loads((folder / FILE).read_text())["updates"] == events.count("|")
    return {each.name for each in read_timing(folder, ()).environments if each.evaluation}


@pytest.mark.parametrize(
    ("events", "tried"),
    [
        ("a|a|a|", set()),
        ("a|a|bba|a|bba|", {"b"}),  # after the first update
        ("bba|a|a|a|bba|a|a|", {"b"}),  # before it as well
        ("bbbba|a|a|a|bbbba|a|a|", {"b"}),  # though it is played more than what is learned from
        ("a|a|a|b|b|b|", set()),  # the next lesson
        ("abc|abc|abc|", set()),  # one after the other, and an update after the last
        ("abcabc|abcabc|", set()),
        ("aab|aab|aab|", set()),  # is b tried before each update, or is a looked at? nobody can tell
        ("bbba|a|a|a|a|", set()),  # filled with it, before anything was learned
    ],
)
def test_by_when_they_are_played(tmp_path, events, tried):
    assert played(tmp_path, events) == tried
