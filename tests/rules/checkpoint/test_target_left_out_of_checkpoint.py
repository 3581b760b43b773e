import dataclasses

from rldebug.evidence.script import Script
from rldebug.forensics import roles
from rldebug.rules.checkpoint import target_left_out_of_checkpoint as here
from rldebug.rules.checkpoint.target_left_out_of_checkpoint import TargetLeftOutOfCheckpoint
from tests.judge import fires, not_enough, quiet
from tests.programs.resumed import legs
from tests.watched import watched

rule = TargetLeftOutOfCheckpoint()


def script(monkeypatch, target, twins=None):
    """A checkpoint with an optimizer, and who is whose target; how these are found out is shown elsewhere."""
    monkeypatch.setattr(here, "roles_of", lambda _: dataclasses.replace(roles.Roles(), targets=(("slow", "fast"),)))
    held = {"state": 8, "of": 8, "whole": False, "weights": 4, "lacking": [], "lacks": 0, "shapes": []}
    save = {
        "kind": "save", "update": 50, "file": "a.pt", "line": ["train.py", 9], "whole": True, "kept": [],
        "modules": {"fast": [4, 4], "slow": target}, "optimizers": {"opt": held},
    }  # fmt: skip
    notes = [save]
    if twins is not None:
        notes.append({"kind": "resumed", "update": 50, "file": "a.pt", "number": 0, "twins": twins})
    return Script(notes=notes)


def test_fires_when_training_goes_on_with_another_target(monkeypatch):
    twin = {"name": "slow-2", "equal": 0, "of": 4, "restored": False}
    found = fires(rule, script(monkeypatch, [0, 4], [twin]))
    assert found.severity == "warning"
    assert "slow" in found.seen


def test_fires_as_a_note_when_nothing_was_loaded(monkeypatch):
    assert fires(rule, script(monkeypatch, [0, 4])).severity == "note"


def test_quiet_when_the_target_is_saved(monkeypatch):
    quiet(rule, script(monkeypatch, [4, 4]))


def test_quiet_when_it_is_copied_after_loading(monkeypatch):
    quiet(rule, script(monkeypatch, [0, 4], [{"name": "slow-2", "equal": 4, "of": 4, "restored": False}]))


def test_declines_without_a_target_network():
    not_enough(rule, Script())


def without_target(learner):
    return {"net": learner.net.state_dict(), "temperature": learner.temperature.data, "opt": learner.opt.state_dict()}


def take(learner, saved):
    learner.net.load_state_dict(saved["net"])
    learner.opt.load_state_dict(saved["opt"])
    learner.temperature.data.copy_(saved["temperature"])


def take_and_copy(learner, saved):
    take(learner, saved)
    learner.target.load_state_dict(learner.net.state_dict())


def by_hand(learner, saved):
    take(learner, saved)
    for ours, theirs in zip(learner.target.parameters(), saved["target"], strict=True):
        ours.data.copy_(theirs)


def test_fires_on_a_program_that_goes_on_without_its_target():
    assert "a target of other weights" in fires(rule, watched(legs(without_target, take))[1]).seen


def test_quiet_on_the_program_that_copies_it_after_loading():
    quiet(rule, watched(legs(without_target, take_and_copy))[1])


def test_quiet_on_the_program_that_reads_it_out_by_hand():
    def contents(learner):
        return {**without_target(learner), "target": [each.clone() for each in learner.target.parameters()]}

    quiet(rule, watched(legs(contents, by_hand))[1])
