"""Classes of the program's own code, as they are made; and nobody between the class and the code around it."""

import builtins
import copy
import gc
import pickle
import sys
from abc import ABC, abstractmethod
from contextlib import contextmanager

import pytest

from rldebug.capture.classes import when_defined
from rldebug.capture.switch import Switchboard


class Before:
    pass


@contextmanager
def looking(look=None):
    switch, seen = Switchboard(), []
    when_defined(switch, "environments", look or (lambda cls: seen.append(cls.__qualname__.split(".")[-1])))
    before = list(seen)
    seen.clear()
    try:
        yield seen, before
    finally:
        switch.undo()
    assert not switch.broken, switch.broken


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_what_makes_classes_is_pickled_and_copied_by_its_name(copied):
    """All builtins are among the globals of a module, and those may be saved: by a callback that keeps them."""
    original = builtins.__build_class__
    with looking():
        held = {"builtins": vars(builtins)["__build_class__"]}
        assert held["builtins"] is not original
        assert copied(held)["builtins"] is held["builtins"]
        sent = pickle.dumps(held)
    assert pickle.loads(sent)["builtins"] is original  # elsewhere, where nobody watches


def test_each_class_once():
    with looking() as (seen, before):

        class Base(ABC):
            @abstractmethod
            def step(self): ...

            class Inside:
                pass

        class Made(Base, metaclass=type(Base)):
            def step(self):
                return 1

    assert "Before" in before
    assert seen == ["Inside", "Base", "Made"]

    class Later:
        pass

    assert "Later" not in seen


@pytest.mark.parametrize("collecting", [True, False])
def test_none_is_missed(collecting):
    with looking() as (seen, _):
        if not collecting:
            gc.disable()
        try:
            for number in range(400):
                litter = [[] for _ in range(number % 40)]  # collections come at every moment

                class Made:
                    kept = litter

                assert seen.pop() == "Made"
        finally:
            gc.enable()


def test_no_frame_in_between():
    """pydantic looks from the metaclass for the names around a class, `overrides` from its body for the bases."""

    class Meta(type):
        def __new__(meta, name, bases, namespace, **kwargs):
            cls = super().__new__(meta, name, bases, namespace)
            cls.around = sys._getframe(1).f_code.co_name
            return cls

        def __init__(cls, name, bases, namespace, **kwargs):
            super().__init__(name, bases, namespace)

    def define():
        class Model(metaclass=Meta, option=1):
            body = sys._getframe(1).f_code.co_name

        return Model.around, Model.body

    with looking() as (seen, _):
        assert define() == ("define", "define")
    assert seen[-1] == "Model"


def test_errors_of_a_class_statement_and_of_ours():
    def look(cls):
        raise ZeroDivisionError

    switch = Switchboard()
    when_defined(switch, "seeds", look)  # it has looked at this module already, and is off
    assert "ZeroDivisionError" in switch.broken["capture/seeds"]
    switch.undo()
    with looking(), pytest.raises(ValueError, match="its own"):

        class Made:
            raise ValueError("its own")


def test_builtin_is_put_back():
    original = builtins.__build_class__
    with looking():
        assert builtins.__build_class__ is not original
    assert builtins.__build_class__ is original
