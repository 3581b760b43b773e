"""A stand-in behaves like the method it stands for. What is told of its calls is tried in test_environments.py."""

import inspect
import pickle
from types import SimpleNamespace

import pytest

from rldebug.capture.env_calls import Gate, stand_in


class Watch:
    """Calls, and remembers that it did."""

    steady = None  # nothing is only counted

    def __init__(self):
        self.here, self.seen = SimpleNamespace(inside=False), []

    def quick_step(self, original, env, action):
        self.seen.append(action)
        return original(env, action)

    def told(self, original, env, args, kwargs):
        self.seen.append((args, kwargs))
        return original(env, *args, **kwargs)


def one(self, force):
    """Moves."""
    return force


def none(self):
    return "none"


def some(self, action, scale=2, *, bias=0):
    return action * scale + bias


@pytest.mark.parametrize("told", ["step", "told"])
def test_signature_name_and_errors_are_those_of_the_method(told):
    gate = Gate()
    for method in (one, none, some):
        made = stand_in(gate, told, method)
        assert inspect.signature(made) == inspect.signature(method)
        assert (made.__name__, made.__doc__, made.__wrapped__) == (method.__name__, method.__doc__, method)
        with pytest.raises(TypeError, match=method.__name__ if method is not one else "force"):
            made(None, 1, 2, 3, 4) if method is not one else made(None)


def test_told_unless_within_another_call_or_nobody_watches():
    gate, watch = Gate(), Watch()
    step, other = stand_in(gate, "step", one), stand_in(gate, "told", some)
    assert (step(None, 3), step(None, force=4)) == (3, 4)
    gate.watch = watch
    assert (step(None, 3), step(None, force=4), other(None, 3, bias=1)) == (3, 4, 7)
    assert watch.seen == [3, 4, ((3,), {"bias": 1})]
    watch.here.inside = True
    assert (step(None, 5), other(None, 5)) == (5, 10)
    gate.shut()
    watch.here.inside = False
    assert step(None, 5) == 5
    assert len(watch.seen) == 3


def test_gate_is_shut_where_it_is_sent():
    gate = Gate()
    gate.watch = Watch()
    sent = pickle.dumps(gate)
    assert b"rldebug" not in sent
    assert pickle.loads(sent).watch is None
