"""What a run asks for, and the shapes that are read off it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rldebug.evidence.timing import Environment, Network, Slice, Timing
from rldebug.evidence.timings.copies import equal_parts
from rldebug.yardstick.shape import Shape
from rldebug.yardstick.shelf import yardsticks
from tests.yardstick.timings import ACTOR, BUSY, CARTPOLE, CRITIC_SHAPES, TWINS, everything, timing

NAMES = {
    "acting", "anomaly", "conversion", "ensemble", "polyak", "precision", "prioritised", "returns", "rollout_buffer",
    "threads", "update", "vector",
}  # fmt: skip


def asked(name: str, made: Timing) -> Shape | None:
    return next(each for each in yardsticks() if name == each.NAME).asked(made)


def test_the_shelf_has_one_file_for_each():
    assert {each.NAME for each in yardsticks()} == NAMES
    assert all(each.__name__.endswith(f".{each.NAME}") for each in yardsticks())


def test_a_run_that_has_some_of_everything_asks_for_everything():
    drawn = Slice(0.1, 1, (), part="buffer sample", called="numpy.random.choice")
    made = everything()
    assert {name for name in NAMES if asked(name, replace(made, slices=(*made.slices, drawn)))} == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize(
    "made",
    [Timing(0.0), Timing(10.0), timing({}, host=BUSY), everything(networks=(), environments=(), phases=0)],
    ids=["nothing", "no slices", "no shares", "no shapes"],
)
def test_nothing_is_asked_without_shares_or_shapes(name, made):
    assert asked(name, made) is None


def test_time_of_other_threads_does_not_count():
    made = timing({})
    other = Slice(5.0, 1, (), part="acting", thread=1)
    assert asked("acting", replace(made, slices=(*made.slices, other))) is None


def test_a_share_below_three_percent_asks_for_nothing():
    assert asked("returns", timing({"advantages": 0.29})) is None
    assert asked("returns", timing({"advantages": 0.31})) is not None


def test_a_rollout_is_what_is_played_between_updates():
    evaluation = Environment("CartPole-v1", lanes=16, steps=9_000, calls=9_000, evaluation=True)
    shape = asked("returns", timing({"advantages": 1.0}, environments=(CARTPOLE, evaluation)))
    assert shape == Shape(0.1, steps=512, lanes=4)


def test_acting_is_measured_with_the_network_that_acts():
    shape = asked("acting", everything())
    assert shape is not None
    assert (shape.network, shape.rows) == (ACTOR, 4)
    recurrent = Network("lstm", ((128, 4), (128, 32), (128,), (128,)), acting_rows=1)
    assert asked("acting", everything(networks=(recurrent,))) is None


def test_buffers_hold_rows_as_wide_as_the_acting_network_takes_them():
    shape = asked("rollout_buffer", everything())
    assert shape is not None
    assert (shape.steps, shape.lanes, shape.width, shape.dtype, shape.rows) == (512, 4, 4, "float32", 128)
    pictures = ((16, 4, 3, 3), (16,), (128, 1024), (128,), (6, 128), (6,))  # 10 × 10
    shape = asked("rollout_buffer", everything(networks=(Network("cnn", pictures, acting_rows=1, training_rows=32),)))
    assert shape is not None
    assert (shape.width, shape.dtype) == (400, "uint8")


def test_prioritised_is_asked_by_what_samples_from_the_past():
    off_policy = timing({"buffer sample": 1.0}, phases=5_120)
    shape = asked("prioritised", off_policy)
    assert shape is not None
    assert (shape.rows, shape.capacity) == (64, 20_480)
    assert asked("prioritised", timing({"buffer sample": 1.0})) is None
    assert asked("prioritised", replace(off_policy, env_steps=50_000_000)).capacity == 1_000_000


def test_an_ensemble_is_two_networks_that_learn_and_have_the_same_shapes():
    parts = {"loss": 1.0, "backward": 1.0}
    shape = asked("ensemble", timing(parts, networks=(ACTOR, *TWINS)))
    assert shape is not None
    assert (shape.network.shapes, shape.copies, shape.rows) == (CRITIC_SHAPES, 2, 128)
    alone = (replace(TWINS[0]), TWINS[2])  # one, and its target network
    assert asked("ensemble", timing(parts, networks=alone)) is None
    both = Network("critics", CRITIC_SHAPES * 2, optimizer="Adam", training_rows=128)
    shape = asked("ensemble", timing(parts, networks=(both,)))
    assert shape is not None
    assert (shape.network.shapes, shape.copies) == (CRITIC_SHAPES, 2)


def test_shapes_that_follow_one_another_are_counted():
    def parts(shapes):
        return equal_parts(Network("", shapes))

    assert parts(CRITIC_SHAPES)[1] == 1
    assert parts(CRITIC_SHAPES * 5) == (CRITIC_SHAPES, 5)
    assert parts(((3, 7), (3,), *CRITIC_SHAPES * 4, (1, 9)))[1] == 4  # within an agent that is one module
    assert parts(((64, 4), (64,), (64, 64), (64,), (64, 64), (64,), (2, 64), (2,)))[1] == 1  # layers of one
    assert parts(((8,), (8,)))[1] == 1
    assert parts(())[1] == 1


def test_target_networks_are_those_that_have_the_shapes_of_one_that_learns():
    shape = asked("polyak", timing({"target networks": 1.0}, networks=(ACTOR, *TWINS)))
    assert shape is not None
    assert [each.name for each in shape.networks] == ["target1", "target2"]


def test_what_the_host_did_not_do_is_not_measured():
    assert asked("threads", everything(host=replace(BUSY, threads=1))) is None
    assert asked("anomaly", everything(host=replace(BUSY, anomaly=False))) is None
    assert asked("precision", everything(networks=(ACTOR, *TWINS))) is None
    assert asked("precision", everything()).network.name == "odd"


def test_vectors_are_asked_for_where_environments_take_a_tenth():
    assert asked("vector", timing({"simulator": 0.9})) is None
    shape = asked("vector", timing({"simulator": 1.1}))
    assert shape is not None
    assert (shape.lanes, shape.spec) == (4, "CartPole-v1")
