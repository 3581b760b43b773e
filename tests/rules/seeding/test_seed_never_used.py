from rldebug.evidence.script import Script
from rldebug.rules.seeding.seed_never_used import SeedNeverUsed
from tests.judge import fires, not_enough, quiet
from tests.programs.options import program_of
from tests.watched import watched

rule = SeedNeverUsed()


def script(**option):
    note = {
        "kind": "option",
        "where": "argparse",
        "read": 0,
        "shown": 0,
        "line": ["train.py", 3],
        "holder": "",
        **option,
    }
    counts = {"counts": {"all": {"updates": 9}}}
    return Script(notes=[note], things=counts)


def test_fires_when_the_option_is_never_read():
    assert "`seed` = 3" in fires(rule, script(name="seed", value=3)).seen


def test_quiet_when_it_is_read():
    quiet(rule, script(name="seed", value=3, read=2))


def test_quiet_when_something_was_seeded_with_the_number():
    seeded = {"kind": "seed", "what": "torch", "value": 3}
    given = script(name="seed", value=3)
    quiet(rule, Script(notes=[*given.notes, seeded], things=given.things))


def test_quiet_when_a_method_takes_a_seed_and_ignores_it():
    quiet(rule, script(name="seed", value=0, where="parameter", holder="reset"))


def test_declines_when_nothing_is_trained():
    not_enough(rule, Script())


IGNORED = """
    SEED = 5
    train()
"""
USED = """
    SEED = 5
    torch.manual_seed(SEED)
    train()
"""


def test_fires_on_a_program_that_leaves_it_aside(monkeypatch):
    fires(rule, watched(program_of(IGNORED, monkeypatch), without=())[1])


def test_quiet_on_the_program_that_uses_it(monkeypatch):
    quiet(rule, watched(program_of(USED, monkeypatch), without=())[1])
