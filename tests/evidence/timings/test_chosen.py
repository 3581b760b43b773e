"""What steps are given, followed back to where it is worked out."""

from rldebug.evidence.timings.parts import with_parts
from tests.rules.timings import SIMULATOR, on, timing

CALM = {"before": "step", "after": "step"}
CODE = """
    import numpy as np

    def epsilon_at(step):
        return 1.0 / step  # decay

    def main(env, rng):
        for step in range(100):
            epsilon = epsilon_at(step)  # epsilon
            explore = rng.random(4) < epsilon  # explore
            actions = np.where(explore, rng.integers(0, 2, 4), 1)  # where
            heights[step] = np.sort(obs)  # heights
            picks[step] = actions + 1  # picks
            obs, reward, over, cut, info = env.step(picks[step])  # env
            actions = reward.sort()  # later
            norm = np.sort(obs)  # norm
"""


def parts(*markers):
    slices = [on("env", 1, below=[SIMULATOR], inside=True, **CALM), *(on(each, 1, **CALM) for each in markers)]
    made = timing(CODE, slices, seconds=1000.0)
    found = with_parts(made.slices, made.environments, made.sources)
    return {each.marker: told.part for each, told in zip(slices, found, strict=False)}


def test_what_the_action_is_worked_out_from():
    found = parts("decay", "epsilon", "explore", "where", "picks")
    assert set(found.values()) == {"acting", "simulator"}
    assert found["env"] == "simulator"


def test_what_has_nothing_to_do_with_it():
    found = parts("heights", "norm")
    assert found["norm"] == "other"
    assert found["heights"] != "acting"


def test_what_is_worked_out_after_the_step_is_not_what_it_was_given():
    assert parts("later")["later"] == "other"
