"""Stacks of frames that are handed over by hand: nothing here depends on the clock."""

import gc
import sys
import weakref
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from rldebug.capture import environments, hand_rolled
from rldebug.capture.paced import Paced
from rldebug.capture.stacks import Stacks, role_of
from rldebug.capture.stopwatch import Stopwatch
from rldebug.capture.switch import Switchboard

HERE = str(Path(__file__).resolve())
seen = []  # what `look` has come to


@pytest.fixture
def stacks():
    seen.clear()
    looked.stacks = Stacks()
    yield looked.stacks
    seen.clear()


looked = SimpleNamespace(stacks=None)


def look():
    """What the sampler would do, if it interrupted the caller now."""
    seen.append(looked.stacks.known[looked.stacks.place(sys._getframe(1))])
    return seen[-1]


def functions(stack):
    return [each.function.rpartition(".")[2] for each in stack.spots if each.file == HERE]


class Log:
    """Counts, and looks on: what is seen in it is our own work."""

    def __init__(self):
        self.steps = 0

    def new(self, *args):
        pass

    def reset(self, *args):
        pass

    def step(self, *args):
        self.steps += 1


def watching(log):
    switch = Switchboard()
    environments.install(switch, log)
    hand_rolled.install(switch, log)
    return switch


class Pole(gym.Env):
    observation_space = gym.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        look()
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.move()
        return np.zeros(2, np.float32), 0.0, False, False, {}

    def move(self):
        look()


class Scaled(gym.Wrapper):
    def __init__(self, env):
        super().__init__(env)
        look()

    def step(self, action):
        obs, *rest = self.env.step(action)
        look()
        return obs, *rest


# ── what is in a stack ──────────────────────────────────────────────────────────────────────────────────────────────


def test_the_place_is_exact_to_the_column(stacks):
    total = 1 + (  # the call alone, over two lines
        look().rows
    )
    assert total == 1
    spot = seen[0].spots[-1]
    line = Path(HERE).read_text(encoding="utf-8").splitlines()[spot.line - 1]
    assert (spot.file, spot.kind, spot.role) == (HERE, "user", "")
    assert spot.function == "test_the_place_is_exact_to_the_column"
    assert spot.line == spot.end_line
    if sys.version_info >= (3, 11):
        assert line.encode()[spot.column : spot.end_column] == b"look()"


def test_a_line_with_letters_of_many_bytes_is_counted_in_bytes(stacks):
    größe = ("µ", look())  # fmt: skip
    assert größe
    spot = seen[0].spots[-1]
    if sys.version_info >= (3, 11):
        line = Path(HERE).read_text(encoding="utf-8").splitlines()[spot.line - 1]
        assert line.encode()[spot.column : spot.end_column] == b"look()"


def test_each_stack_and_each_place_is_kept_once(stacks):
    for _ in range(5):
        look()
    look()
    assert len(stacks.known) == 2
    assert seen[0] is seen[4]
    assert seen[0] is not seen[5]
    assert seen[0].spots[:-1] == seen[5].spots[:-1]
    assert all(one is two for one, two in zip(seen[0].spots[:-1], seen[5].spots[:-1], strict=True))


def test_comprehensions_and_generators_are_places_of_their_own(stacks):
    def rows():
        yield look()

    def eager():
        return [look() for _ in range(2)]

    list(rows())
    eager()
    assert functions(seen[0])[-2:] == ["test_comprehensions_and_generators_are_places_of_their_own", "rows"]
    inner = functions(seen[1])
    assert inner[-2:] == ["eager", "<listcomp>"] if sys.version_info < (3, 12) else inner[-1:] == ["eager"]


def test_what_has_just_been_called_is_its_callers_time(stacks):
    """Python sees a signal that came during `a @ b` as late as in the next function."""
    here = "test_what_has_just_been_called_is_its_callers_time"
    held = []

    def trace(frame, event, arg):
        if frame.f_code.co_name in ("plain", "lazy", "closed"):
            seen.append(stacks.known[stacks.place(frame)])
            held.append((event, functions(seen[-1])[-1]))
        return trace

    def plain():
        return 1

    def lazy():
        yield 1

    def closed():
        return held

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        plain()
        list(lazy())
        closed()
    finally:
        sys.settrace(before)
    called = [function for event, function in held if event == "call"]
    assert called == [here] * 4  # the generator begins, and goes on
    assert [function for event, function in held if event == "line"] == ["plain", "lazy", "closed"]


def test_the_end_of_a_loop_has_the_line_of_its_head(stacks):
    """Python has no line for the jump back where the last statement is an `if`, and looks for signals just there."""

    def loops(env):
        for _ in range(3):
            env = not env
            if env:
                env = not env
        return env

    def trace(frame, event, arg):
        if frame.f_code is loops.__code__:
            frame.f_trace_opcodes = True
            if event == "opcode":
                seen.append(stacks.known[stacks.place(frame)])
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        loops(True)
    finally:
        sys.settrace(before)
    first = loops.__code__.co_firstlineno
    inner = [each.spots[-1].line for each in seen if each.spots[-1].function.endswith("loops")]
    assert set(inner) == set(range(first + 1, first + 6))  # and not that of the `def`


def test_recursion_without_end_is_cut_at_its_inner_end(stacks):
    def down(depth):
        return down(depth - 1) if depth else look()

    down(500)
    down(499)
    assert len(stacks.known) == 2
    assert len(seen[0].spots) <= 200
    assert set(functions(seen[0])) == {"down"}


def test_code_without_a_file_is_left_out(stacks):
    exec(compile("def made(look):\n    return look()\nmade(look)", "<string>", "exec"), {"look": look})
    assert functions(seen[0])[-1] == "test_code_without_a_file_is_left_out"
    assert not [each for each in seen[0].spots if "<" in Path(each.file).name]


# ── whose it is ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_frames_of_ours_are_taken_out_and_what_they_call_is_not_ours(stacks):
    switch = watching(Log())
    try:
        env = Scaled(Pole())
        env.reset(seed=0)
        env.step(0)  # the first is told at length
        env.step(0)
        env.step(action=0)
    finally:
        switch.undo()
    made, reset, *steps = seen
    assert not made.inside  # to make one is not to play it
    assert reset.inside
    assert not any(each.ours for each in seen)
    assert not [each for one in seen for each in one.spots if "/rldebug/" in each.file and "/tests/" not in each.file]
    inner, outer = steps[2:4]
    assert functions(inner)[-3:] == ["step", "step", "move"]
    assert [each.role for each in inner.spots[-3:]] == ["wrapper", "environment", "environment"]
    assert functions(outer)[-2:] == ["test_frames_of_ours_are_taken_out_and_what_they_call_is_not_ours", "step"]
    assert all(each.inside for each in steps)


def test_our_own_work_is_told_apart(stacks):
    class Looking(Log):
        def step(self, *args):
            look()

    switch = watching(Looking())
    try:
        env = Pole()
        env.reset()
        seen.clear()
        env.step(0)
    finally:
        switch.undo()
    # `Watch.tell` has called it: whatever is below is ours, also where it is a library's.
    assert [each.ours for each in seen] == [False, True]


def test_a_stand_in_of_ours_hands_on_too(stacks, tmp_path):
    from rldebug.capture.paced import Paced
    from rldebug.capture.stopwatch import Stopwatch

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        def backward(ctx, grad):
            look()
            return grad

    switch = Switchboard()
    Paced(Stopwatch(tmp_path), switch, environments=False)
    try:
        x = torch.ones((), requires_grad=True)
        Square.apply(x).backward()
    finally:
        switch.undo()
    (stack,) = seen
    assert not stack.ours
    assert functions(stack)[-1] == "backward"
    assert not [each for each in stack.spots if each.file.endswith(("paced.py", "stand_in.py"))]


def test_a_trainer_that_steps_and_resets_is_no_environment(stacks):
    """What it is shows when its step returns; all that it does until then is not the simulator's."""

    switch = watching(Log())

    class Trainer:
        def reset(self):
            look()

        def step(self, batch):
            look()

    class Sub(Trainer):
        pass

    try:
        for each in (Trainer(), Sub()):
            each.reset()
            each.step(0)
            each.step(0)
    finally:
        switch.undo()
    assert [each.inside for each in seen] == [False] * 6
    assert [each.spots[-1].role for each in seen] == [""] * 6


def test_an_environment_of_no_library_is_one_once_it_is_played(stacks):
    log = Log()
    switch = watching(log)

    class Grid:
        def reset(self):
            return np.zeros(2)

        def step(self, action):
            self.move()
            return np.zeros(2), 0.0, False, {}

        def move(self):
            look()

    try:
        env = Grid()
        env.reset()
        for _ in range(3):
            env.step(0)
    finally:
        switch.undo()
    assert log.steps == 3
    assert [each.inside for each in seen] == [False, True, True]
    assert [each.role for each in seen[1].spots[-2:]] == ["environment", ""]
    assert [each.kind for each in seen[1].spots[-2:]] == ["user", "user"]


# ── roles ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def vec_env(*bases):
    """Stable-Baselines3 need not be there: its classes are known by their names."""
    return type("DummyVecEnv", bases, {"step": lambda self, actions: None, "reset": lambda self: None})()


@pytest.mark.parametrize(
    ("thing", "role"),
    [
        (nn.Linear(1, 1), "module"),
        (torch.optim.SGD([torch.zeros(1)], lr=1.0), "optimizer"),
        (Pole(), "environment"),
        (gym.make("CartPole-v1"), "wrapper"),
        (gym.make("CartPole-v1").unwrapped, "environment"),
        (gym.make_vec("CartPole-v1", 2, vectorization_mode="sync"), "vector"),
        (gym.wrappers.vector.RecordEpisodeStatistics(gym.make_vec("CartPole-v1", 2)), "wrapper"),
        (vec_env(type("VecEnv", (), {})), "vector"),
        (vec_env(type("VecEnvWrapper", (type("VecEnv", (), {}),), {})), "wrapper"),
        (vec_env(type("Env", (), {})), "environment"),
        (type("Env", (), {})(), ""),  # a class of that name which does not step
        (vec_env(object), ""),
        (np.zeros(3), ""),
        (None, ""),
        (Pole, ""),
    ],
)
def test_what_an_object_is_to_a_training_loop(thing, role):
    assert role_of(thing) == role


def test_the_role_of_a_frame_is_that_of_its_first_argument(stacks):
    class Net(nn.Module):
        def forward(self, x):
            look()
            return x

    class Free:
        def held(self):
            def inner():
                return self

            look()
            return inner

    Net()(torch.zeros(7, 3))
    Free().held()
    net, free = seen
    assert (net.spots[-1].kind, net.spots[-1].role) == ("user", "module")
    assert net.spots[-2].role == net.spots[-2].kind == "module"  # torch's own frame
    assert net.rows == 7
    assert (free.spots[-1].role, free.rows) == ("", 0)


def test_nothing_of_the_users_is_called(stacks):
    called = []

    class Meta(type):
        def __getattr__(cls, name):
            called.append(name)
            raise RuntimeError(name)

    class Env(metaclass=Meta):
        @property
        def __class__(self):
            called.append("__class__")
            raise RuntimeError("no")

        def __getattr__(self, name):
            called.append(name)
            raise RuntimeError(name)

        def __eq__(self, other):
            called.append("__eq__")
            raise RuntimeError("no")

        __hash__ = None

        def act(self):
            look()

    Env().act()
    assert called == []
    assert seen[0].spots[-1].function.endswith("Env.act")


def test_nothing_of_the_users_is_kept_alive(stacks):
    class Thing:
        def act(self, other):
            look()
            return weakref.ref(other)

    def holds():
        big = Thing()
        gone = Thing().act(big)
        look()
        del big
        return gone()

    gc.disable()  # so that what dies does so by itself
    try:
        assert holds() is None
    finally:
        gc.enable()


def test_variables_stay_where_somebody_else_looks_on(stacks):
    """What a profiler in Python was shown of a frame is put back into it: it must still be there."""

    def works(first):
        second = abs(first) + 1
        return first, second

    def looks_on(frame, event, arg):
        if frame.f_code is works.__code__:
            stacks.place(frame)

    before = sys.getprofile()
    sys.setprofile(looks_on)
    try:
        assert works(1) == (1, 2)
    finally:
        sys.setprofile(before)


def test_a_step_that_is_only_counted_is_inside_of_an_environment(stacks, tmp_path):
    """Under a profile the stand-in of a step that was seen before calls it by itself."""
    switch, watch = Switchboard(), Stopwatch(tmp_path)
    watch.sampler.start = lambda: None
    try:
        Paced(watch, switch)

        class World(gym.Env):
            action_space = observation_space = gym.spaces.Discrete(2)

            def reset(self, **options):
                return 0, {}

            def step(self, action):
                look()
                return 0, 0.0, False, False, {}

        world = World()
        world.reset()
        for _ in range(4):
            world.step(0)
            look()
    finally:
        switch.undo()
    watch.count_steps()
    assert watch.counts["env_steps"] == 4
    assert [each.inside for each in seen] == [True, False] * 4
    assert not any(each.ours for each in seen)
