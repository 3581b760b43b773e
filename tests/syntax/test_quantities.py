import ast
from textwrap import dedent

import pytest

from rldebug.evidence.source import parsed
from rldebug.syntax.across import program_of
from rldebug.syntax.names import method, receiver
from rldebug.syntax.quantities import advantages, recursions, returns, stepped, surest, walk


def learned(code):
    source = parsed(dedent(code))
    losses = [receiver(each) for each in ast.walk(source.tree) if method(each) == "backward"]
    return walk(program_of([source]), losses)


def told(walked, nodes):
    return [ast.unparse(walked.statement(each)) for each in nodes]


PLAYED = "net = make()\nrows = []\no, r, end, late, info = env.step(a)\nrows.append(r)\n"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("goal = rows[0] + 0.9 * net(o)", 0),
        ("goal = 0.0\nfor r in rows:\n    goal = r + 0.9 * goal", 0),
        ("goal = (rows[0] + 0.9 * support).clamp(0, 1)", 1),
        ("goal = 0.0\nfor r in rows:\n    goal += r", 2),
        ("goal = sum((0.9 ** k * r for k, r in enumerate(rows)))", 3),
        ("goal = gae(rows, net(o))", 4),
    ],
)
def test_where_rewards_become_returns(code, kind):
    walked = learned(f"{PLAYED}{code}\n(net(o) - goal).backward()")
    found = returns(walked)
    assert set(found.values()) == {kind}
    assert told(walked, surest(found)) == [code.split("\n")[-1].strip()]


def test_rewards_that_are_only_shifted_are_no_returns():
    walked = learned(f"{PLAYED}pay = rows[0] - 1.0\ngoal = pay + 0.9 * net(o)\n(net(o) - goal).backward()")
    assert told(walked, surest(returns(walked))) == ["goal = pay + 0.9 * net(o)"]


def test_a_sum_that_has_a_share_of_the_one_before():
    walked = learned(
        f"""{PLAYED}
last = 0.0
for r in rows:
    delta = r + 0.9 * net(o) - net(o)
    last = delta + 0.8 * last
(net(o) * last).backward()"""
    )
    assert told(walked, recursions(walked)) == ["last = delta + 0.8 * last"]


def test_a_return_less_what_was_expected():
    walked = learned(f"{PLAYED}goal = rows[0] + 0.9 * net(o)\nweight = goal - net(o)\n(net(o) * weight).backward()")
    assert told(walked, advantages(walked)) == ["weight = goal - net(o)"]


def test_only_what_rewards_come_from_is_learned_from():
    walked = learned(
        """
        net = make()
        def test(env):
            o, r, end, late, info = env.step(net(o))
            return r
        o, r, end, late, info = env.step(a)
        (net(o) - r).backward()
        """
    )
    assert told(walked, stepped(walked)) == ["o, r, end, late, info = env.step(a)"]
