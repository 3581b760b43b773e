from __future__ import annotations

import jsonschema
import numpy as np
import pytest
import torch

import rldebug
from rldebug.oracles.rules import rules
from rldebug.oracles.shelf import find, oracles
from rldebug.render.json import schema
from rldebug.target import TargetError
from rldebug.verify import mapping, verify, write_test_file
from tests.planted_functions import gae as planted


def test_a_sound_function_is_clean():
    report = rldebug.verify("gae", planted.cleanrl_like)
    assert report.exit == 0
    assert report.clean
    assert report.program["mapping"]["dones"] == "whether the step before ended an episode"
    assert report.checked == tuple(sorted([find("gae").code, *(each.code for each in find("gae").mistakes)]))


def test_a_mistake_is_an_error_of_its_name_in_the_components_family():
    report = verify("gae", planted.sum_not_cut)
    (finding,) = report.findings
    assert report.exit == 1
    assert (finding.code, finding.name, finding.component) == ("ADV103", "gae-runs-over-reset", "advantage")
    assert finding.severity == "error"
    assert finding.where.file.endswith("gae.py")
    assert finding.where.line == planted.sum_not_cut.__code__.co_firstlineno
    assert report.suspects[0].component == "advantage"
    jsonschema.validate(report.to_dict(), schema())


def test_what_no_mistake_explains_is_a_mismatch():
    (finding,) = verify("gae", planted.squared_for_no_reason).findings
    assert (finding.code, finding.name) == ("ADV100", "gae-mismatch")


def test_two_mistakes_are_two_findings():
    report = verify("gae", planted.two_at_once)
    assert {each.name for each in report.findings} == {"gae-sign-flipped", "gae-lambda-missing"}


def test_the_generators_of_the_program_are_left_as_they_were():
    torch.manual_seed(1)
    np.random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()
    verify("gae", planted.cleanrl_like)
    assert torch.equal(before[0], torch.get_rng_state())
    np.testing.assert_array_equal(before[1], np.random.get_state()[1])


def test_no_such_component_names_the_nearest():
    with pytest.raises(TargetError, match="did you mean gae"):
        verify("gea", planted.cleanrl_like)


def test_what_cannot_be_called_says_why():
    with pytest.raises(TargetError, match="could not be verified as gae: "):
        verify("gae", lambda a, b, c, d, e, f, g: a)


def test_mappings_are_read_from_words():
    assert mapping(["reward=r", "done = d"]) == {"reward": "r", "done": "d"}
    with pytest.raises(TargetError, match="expected WHAT=ARGUMENT"):
        mapping(["reward"])


# ── every oracle ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_component_of_the_shelf_is_found_by_its_names():
    for oracle in oracles():
        assert find(oracle.name) is oracle
        for alias in oracle.aliases.split():
            assert find(alias) is oracle, alias


def test_rules_are_made_for_every_mistake():
    assert len(rules()) == sum(1 + len(each.mistakes) for each in oracles())
    by_code = {each.code: each for each in rules()}
    assert len(by_code) == len(rules())
    assert by_code["ADV103"].name == "gae-runs-over-reset"
    assert "adv = delta + gamma * lam * adv" in by_code["ADV103"].page()


# ── a test for the user ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_written_test_fails_for_a_wrong_function_and_passes_for_a_right_one(tmp_path, pytester_like):
    source = tmp_path / "mine.py"
    source.write_text(SOUND, encoding="utf-8")
    file = tmp_path / "tests" / "test_components.py"
    said = write_test_file("gae", f"{source}:compute", {}, file)
    assert "test_gae_compute" in said
    assert pytester_like(file) == 0
    source.write_text(SOUND.replace("lam * (1 - dones[t])", "lam"), encoding="utf-8")
    assert pytester_like(file) == 1
    with pytest.raises(TargetError, match="holds test_gae_compute already"):
        write_test_file("gae", f"{source}:compute", {}, file)
    file.write_text("import os\n", encoding="utf-8")
    with pytest.raises(TargetError, match="expected another file"):
        write_test_file("gae", f"{source}:compute", {}, file)


SOUND = """
import torch

def compute(rewards, values, dones, last_value, gamma, lam):
    out, acc, following = torch.zeros_like(rewards), 0.0, last_value
    for t in reversed(range(len(rewards))):
        acc = rewards[t] + gamma * following * (1 - dones[t]) - values[t] + gamma * lam * (1 - dones[t]) * acc
        out[t], following = acc, values[t]
    return out
"""


@pytest.fixture
def pytester_like(tmp_path):
    import subprocess
    import sys

    def run(file):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120).returncode

    return run
