"""Where a text goes round with something that may be a step of a world."""

import ast

import pytest

from rldebug.syntax.worlds import places


def found(text):
    return places(ast.parse(text))


def test_a_function_on_a_state():
    (place,) = found(
        "state = fresh(rng)\n"
        "for t in range(9):\n"
        "    action = choose(look(state))\n"
        "    state, reward, done = advance(state, action, rng)\n"
        "    if done:\n"
        "        state = fresh(rng)\n"
    )
    assert (place.name, place.action, place.seen, place.state, place.states) == ("advance", 1, (0,), 0, (0,))
    assert [value.lineno for value, _, _ in place.afresh] == [1, 6]
    assert place.renewed


def test_an_observation_beside_the_state():
    (place,) = found(
        "def episode(net):\n"
        "    obs, state = fresh()\n"
        "    while True:\n"
        "        obs, state, reward, done = game.play(state, action=net(obs))\n"
        "        if done:\n"
        "            break\n"
    )
    assert (place.action, place.seen, place.state, place.states) == ("action", (0,), 0, (1,))
    assert [(which, at) for _, which, at in place.afresh] == [((0,), 0), ((1,), 1)]


def test_each_loop_has_its_own_beginnings():
    first, second = found(
        "for _ in range(9):\n"
        "    obs, over = begin(), False\n"
        "    while not over:\n"
        "        obs, reward, over = move(net(obs))\n"
        "    obs, over = begin(), False\n"
        "    while not over:\n"
        "        obs, reward, over = move(best(obs))\n"
    )
    assert [value.lineno for value, _, _ in first.afresh] == [2]
    assert [value.lineno for value, _, _ in second.afresh] == [5]


@pytest.mark.parametrize(
    "line",
    [
        "obs, reward, done, info = env.step(net(obs))",  # an object: its class is watched
        "obs, reward, done = move(other)",  # nothing comes back to it
        "total, reward, done = move(action)",
        "obs[i], reward, done = move(net(obs[i]))",  # several in turn
        "obs, reward, done = torch.unbind(net(obs))",
        "obs, reward, done = zip(net(obs))",
        "hidden = cell(net(hidden))",
    ],
)
def test_what_is_no_candidate(line):
    assert not found(f"import torch\nwhile True:\n    action = net(x)\n    {line}\n")


def test_what_a_compiler_is_given_stays_as_it_is():
    text = "def go(obs):\n    for _ in range(9):\n        obs, reward, done = move(net(obs))\n"
    assert found(text)
    assert not found("@njit\n" + text)
    assert not found(text + "go = numba.njit(go)\n")
