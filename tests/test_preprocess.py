"""rldebug.preprocess: returns what the function returns; some calls are kept while a run is watched."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

import rldebug
from rldebug.capture.gallery import Gallery
from rldebug.preprocess import keep_in, keep_no_more


@pytest.fixture
def kept(tmp_path):
    gallery = Gallery(tmp_path / "frames", lambda: (0, 0))
    keep_in(gallery)

    def lines():
        file = tmp_path / "frames" / "index.jsonl"
        return [json.loads(each) for each in file.read_text().splitlines()] if file.exists() else []

    yield lines
    keep_no_more(gallery)
    assert gallery.problem is None


@rldebug.preprocess
def halved(frame, by=2):
    """Half of it."""
    return frame / by


def test_it_is_the_function_still():
    assert halved.__name__ == "halved"
    assert halved.__doc__ == "Half of it."
    assert halved(np.ones(2), by=4).tolist() == [0.25, 0.25]


def test_what_goes_in_and_what_comes_out_is_kept(kept):
    halved(np.array([2.0, 4.0]))
    (line,) = kept()
    assert (line["source"], line["name"]) == ("preprocess", "halved")
    assert line["before"]["values"] == [2, 4]
    assert line["after"]["values"] == [1, 2]


def test_every_hundredth_time_and_the_first_ones(kept):
    @rldebug.preprocess(every=50)
    def same(frame):
        return frame

    for number in range(1, 151):
        given = np.full(2, float(number))
        assert same(given) is given
    assert [each["before"]["values"][0] for each in kept()] == [1, 10, 50, 100, 150]


def test_methods_tensors_keywords_and_what_is_changed_in_place(kept):
    class Wrapper:
        @rldebug.preprocess
        def observation(self, obs):
            obs *= 3
            return {"obs": obs}

        @staticmethod
        @rldebug.preprocess
        def static(obs):
            return obs

        @rldebug.preprocess
        @classmethod
        def of_class(cls, obs):
            return obs

    tensor = torch.ones(2)
    result = Wrapper().observation(obs=tensor)
    assert result["obs"] is tensor
    Wrapper.static(np.zeros(1))
    Wrapper().of_class(np.zeros(1))
    names = [each["name"].rpartition("Wrapper.")[2] for each in kept()]
    assert names == ["observation", "static", "of_class"]
    assert kept()[0]["before"]["values"] == [1, 1]
    assert kept()[0]["after"]["values"] == [3, 3]


def test_gradients_flow_as_before(kept):
    weight = torch.ones(2, requires_grad=True)
    halved(weight).sum().backward()
    assert weight.grad.tolist() == [0.5, 0.5]
    assert kept()


def test_what_it_raises_comes_out_and_what_is_no_array_is_left_out(kept):
    @rldebug.preprocess
    def wrong(frame):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        wrong(np.ones(1))

    @rldebug.preprocess
    def text(word):
        return word

    assert text("a") == "a"
    assert not kept()


def test_a_keeper_that_fails_is_not_noticed(tmp_path):
    (tmp_path / "frames").write_text("")
    gallery = Gallery(tmp_path / "frames", lambda: (0, 0))
    keep_in(gallery)
    fresh = rldebug.preprocess(lambda frame: frame)
    assert fresh(np.ones(1)) == 1
    keep_no_more(gallery)
    assert gallery.problem is not None


async def coroutine(frame):
    return frame


def generator(frame):
    yield frame


@pytest.mark.parametrize("wrong", [coroutine, generator, 3, int], ids=["coroutine", "generator", "number", "class"])
def test_what_cannot_be_decorated_is_said_at_once(wrong):
    with pytest.raises(TypeError, match=r"rldebug\.preprocess decorates a function"):
        rldebug.preprocess(wrong)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "10"])
def test_a_wrong_number_is_said_at_once(wrong):
    with pytest.raises(ValueError, match="expected a whole number"):
        rldebug.preprocess(every=wrong)


def test_a_watched_loop_keeps_it(tmp_path):
    fresh = rldebug.preprocess(lambda frame: frame * 2)
    with rldebug.watch(folder=tmp_path, quiet=True) as watch:
        fresh(np.ones(3))
    fresh(np.ones(3))
    (line,) = (watch.path / "frames" / "index.jsonl").read_text().splitlines()
    assert json.loads(line)["after"]["values"] == [2, 2, 2]


def test_nothing_heavy_is_imported_for_it():
    code = (
        "import sys, rldebug\n"
        "f = rldebug.preprocess(lambda frame: frame)\n"
        "f([1])\n"
        "print([each for each in ('torch', 'numpy') if each in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
