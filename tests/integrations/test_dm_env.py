"""dm_env, the real one: checked as it is, seen under run, and what adapters and loops get wrong named."""

import numpy as np
import pytest
import torch

from rldebug.env import check_env
from tests.integrations import pages
from tests.watched import findings, watched

pytest.importorskip("dm_env", reason="dm_env is in the extra `dm-env`, which is not installed")
import dm_env

from tests.integrations.dm_programs import Adapted, Balance, adapted, on_time_steps

pytestmark = pytest.mark.integration


def alarms(found):
    return [f"{each.code} {each.message}: {each.seen}" for each in found if each.severity != "note"]


def test_the_example_of_the_page(capsys):
    names = pages.run("dm_env")
    assert "time-limit-as-termination" in capsys.readouterr().out
    assert names["report"].roots[0].code == "ENV023"


def test_a_sound_environment_is_clean():
    report = check_env(lambda seed=None: Balance(seed), steps=2000, seconds=8)
    assert alarms(report.findings) == []
    assert report.program["action_space"] == "Discrete(3)"


def test_one_that_takes_no_seed_is_not_asked_about_seeds():
    report = check_env(lambda: Balance(seed=None), steps=1500, seconds=6)
    assert alarms(report.findings) == []


def test_an_adapter_that_drops_the_discount_is_found_by_the_check():
    def make():
        return Adapted(Balance(seed=None, limit=20), last_is_terminal=True)

    report = check_env(make, steps=2000, seconds=8)
    assert "ENV023" in {each.code for each in report.findings}


@pytest.mark.parametrize("seed", [0, 4])
def test_a_sound_loop_is_left_in_peace(seed):
    assert alarms(findings(lambda: on_time_steps(seed=seed))) == []


def test_a_sound_adapter_is_left_in_peace():
    assert alarms(findings(adapted)) == []


def test_an_adapter_that_takes_every_last_step_for_terminal_is_found():
    found = findings(lambda: adapted(last_is_terminal=True))
    assert alarms(found)[0].startswith("ENV302")
    assert "discount above 0" in found[0].seen


def test_a_loop_that_does_not_look_at_the_discount_is_found():
    found = findings(lambda: on_time_steps(last_is_terminal=True))
    assert "DIS304" in {each.code for each in found}


def test_a_loop_that_stores_the_step_after_the_last_is_found():
    found = findings(lambda: on_time_steps(goes_on=True))
    assert "BUF305" in {each.code for each in found}


def test_what_is_seen():
    _, script = watched(lambda: on_time_steps(steps=100))
    (stream,) = script.streams
    assert (stream["kind"], stream["lanes"], stream["autoreset"]) == ("dm_env", 1, "next-step")
    assert stream["facts"]["action_space"] == "Discrete"
    assert stream["facts"]["action_n"] == 3
    assert stream["truncations"] > 0
    assert stream["stepped_after_end"] == 0


def test_watching_changes_no_weight():
    alone = on_time_steps(steps=300).q.state_dict()
    made = []
    watched(lambda: made.append(on_time_steps(steps=300)))
    assert all(torch.equal(alone[key], each) for key, each in made[0].q.state_dict().items())


def test_what_shimmy_makes_of_specs_and_steps_is_what_we_make():
    shimmy = pytest.importorskip("shimmy.utils.dm_env", reason="Shimmy is not installed")
    from rldebug.integrations.dm_env import space_of

    env = Balance(limit=3)
    for spec in (env.observation_spec(), env.action_spec(), dm_env.specs.Array((2,), np.float64)):
        assert space_of(spec, "spec") == shimmy.dm_spec2gym_space(spec)
    env.reset()
    steps = [env.step(1) for _ in range(3)]
    assert shimmy.dm_env_step2gym_step(steps[-1])[2:4] == (False, True)
