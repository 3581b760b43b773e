import ast

import pytest

from rldebug.syntax.copies import adds_up, between, copies, mixed
from tests.syntax.snippets import text


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        pytest.param("t.data.copy_(0.1 * p.data + 0.9 * t.data)", 0.9, id="copy_"),
        pytest.param("t.data = 0.1 * p.data + 0.9 * t.data", 0.9, id="assigned to data"),
        pytest.param("t.lerp_(p, 0.1)", 0.9, id="lerp_"),
        pytest.param("t.data.mul_(0.9).add_(p.data, alpha=0.1)", 0.9, id="chained"),
        pytest.param("t.mul_(0.9); t.add_(0.1 * p)", 0.9, id="two lines"),
        pytest.param("t.data.copy_(p.data)", 0.0, id="all of it"),
    ],
)
def test_a_loop_over_two_networks(code, kept):
    source = text(f"for p, t in zip(net.parameters(), slow.parameters()):\n    {code}")
    [copy] = copies(source)
    assert (ast.unparse(copy.into), ast.unparse(copy.origin)) == ("slow", "net")
    assert mixed(source, copy, old=1.0, new=0.0) == pytest.approx(kept)
    assert adds_up(source, copy)


def test_a_name_that_is_bound_is_no_copy():
    assert not copies(text("for p, t in zip(a.parameters(), b.parameters()):\n    t = p"))


@pytest.mark.parametrize(
    "code",
    [
        "def f(slow, net):\n    slow.load_state_dict(net.state_dict())\nf(target, online)",
        "for s, n in ((target, online),):\n  for p, q in zip(s.parameters(), n.parameters()):\n    p.data.copy_(q)",
    ],
)
def test_the_networks_behind_the_names(code):
    source = text(code)
    [copy] = copies(source)
    [pair] = between(source, copy)
    assert [ast.unparse(each) for each in pair] == ["target", "online"]
