import ast

import pytest

from rldebug.syntax.running import running_sums
from tests.syntax.snippets import text


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for r in rewards:", "forwards"),
        ("for i, r in enumerate(rewards):", "forwards"),
        ("for r in reversed(rewards):", "backwards"),
        ("for r in rewards[::-1]:", "backwards"),
        ("for r, d in zip(reversed(rewards), reversed(ends)):", "backwards"),
        ("for r in np.flip(rewards):", "backwards"),
        ("rewards.reverse()\nfor r in rewards:", ""),
    ],
)
def test_which_way_a_sum_is_carried(loop, expected):
    [found] = running_sums(text(f"import numpy as np\n{loop}\n    g = r + gamma * g\n    out.append(g)"))
    assert found.direction == expected
    assert [ast.unparse(each) for each in found.discount] == ["gamma"]
    assert [how for _, how in found.kept] == ["append"]


def test_sums_that_are_not_kept_or_not_of_the_loop_do_not_count():
    assert not running_sums(text("for r in rewards:\n    g = r + gamma * g"))
    assert not running_sums(text("for r in rewards:\n    g = noise() + gamma * g\n    out.append(g)"))


@pytest.mark.parametrize(
    "line", ["gains[k] = carry = d[k] + g * lam * carry", "carry = gains[k] = d[k] + g * (b[k] + lam * carry)"]
)
def test_a_sum_is_kept_by_the_assignment_that_makes_it(line):
    [found] = running_sums(text(f"for k in range(n):\n    {line}"))
    assert (found.name, [how for _, how in found.kept]) == ("carry", ["place"])
    assert [ast.unparse(each) for each in found.discount] == ["g", "lam"]


def test_a_sum_of_rewards_is_used_beside_what_belongs_to_the_step():
    loop = "for k in range(len(paid)):\n    back = g * back + paid[k]\n    cost += (back - guess[k]) ** 2"
    play = "for _ in range(9):\n    o, gain, end, cut, _ = env.step(a)\n    paid.append(max(gain, -1))\n"
    [found] = running_sums(text(f"{play}{loop}"))
    assert (found.direction, [how for _, how in found.kept]) == ("forwards", ["beside"])
    assert not running_sums(text(loop))  # a trace of anything else may look back
