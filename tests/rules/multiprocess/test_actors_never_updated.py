import pytest

from rldebug.evidence.script import Script
from rldebug.rule import NotEnough
from rldebug.rules.multiprocess.actors_never_updated import ActorsNeverUpdated


def found(*actors):
    facts = [{"elsewhere": number, "actors": each} for number, each in enumerate(actors)]
    streams = {str(number): {"index": number, "name": "Walk", "facts": each} for number, each in enumerate(facts)}
    started = {"kind": "thread", "what": "process", "does": "__main__.play", "line": ["train.py", 12], "times": 2}
    script = Script(things={"stream": streams}, notes=[started])
    return list(ActorsNeverUpdated().check(script))


def actor(*, changed=False, looks=10, first=0, last=150):
    return {"looks": looks, "first": first, "last": last, "changed": changed, "mark": 1}


def test_fires_where_no_actor_ever_gets_new_weights():
    (finding,) = found(actor(), actor(last=120))
    assert finding.where.line == 12
    assert "150 optimizer steps before" in finding.seen


def test_quiet_where_they_get_them():
    assert not found(actor(changed=True), actor(changed=True))


def test_quiet_where_one_of_them_does():
    assert not found(actor(changed=True), actor())


def test_quiet_where_they_were_looked_at_for_a_short_while():
    for each in (actor(last=5), actor(looks=2)):
        with pytest.raises(NotEnough):
            found(each)


def test_quiet_where_nobody_acts_elsewhere():
    with pytest.raises(NotEnough):
        found(None)
