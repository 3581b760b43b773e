from rldebug.capture.flags import ignored_flags
from rldebug.config import Config
from rldebug.diagnose import diagnose
from rldebug.evidence.script import Script
from rldebug.finding import Finding

CODE = "EVA355"

IGNORED = """
@torch.no_grad()
def act(net, obs, greedy=False):
    return sample(net(obs))

act(net, obs)
act(net, obs, greedy=True)
"""
HEEDED = IGNORED.replace("sample(net(obs))", "best(net(obs)) if greedy else sample(net(obs))")


def found(source: str) -> list[Finding]:
    notes = [
        {
            "kind": "flag", "name": each.name, "function": each.function, "default": each.default,
            "line": [each.file, each.line], "called": [each.file, each.called],
        }
        for each in ignored_flags({"train.py": source})
    ]  # fmt: skip
    script = Script(notes=notes, things={"counts": {"all": {"updates": 10}}})
    report = diagnose([script], config=Config(select=(CODE,)), command="run")
    assert not report.broken
    return list(report.findings)


def test_fires_where_the_flag_is_given_and_nobody_looks_at_it():
    (finding,) = found(IGNORED)
    assert finding.component == "evaluation"
    assert finding.where.line == 3


def test_quiet_where_it_is_looked_at_or_never_given():
    assert not found(HEEDED)
    assert not found(IGNORED.replace("greedy=True", "greedy=False"))
    assert not found(IGNORED.replace("greedy", "verbose"))
