from __future__ import annotations

import pytest

from rldebug.evidence.synonyms import AMBIGUOUS, NAMES, OFF_POLICY, ON_POLICY, concept_of_field, concepts, plain_name


@pytest.mark.parametrize(
    "name",
    ["learningRate", "LEARNING_RATE", "--learning-rate", "learning_rate_", "LearningRate", "train.learning_rate"],
)
def test_spellings(name):
    assert plain_name(name) == "learning_rate"


def test_acronyms_are_words():
    assert [plain_name(each) for each in ("PPOAgent", "TD3Config", "GAELambda", "K_epochs", "nSteps")] == [
        "ppo_agent",
        "td3_config",
        "gae_lambda",
        "k_epochs",
        "n_steps",
    ]


@pytest.mark.parametrize("algorithm", [*ON_POLICY, *OFF_POLICY, "own"])
def test_a_name_means_one_thing_for_an_algorithm(algorithm):
    meanings: dict[str, list[str]] = {}
    for algorithms, table in NAMES.items():
        if not algorithms or algorithm in algorithms:
            for concept, names in table.items():
                for name in names.split():
                    meanings.setdefault(name.rstrip("?"), []).append(concept)
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}
    assert {name: concept for name, (concept, _) in concepts(algorithm).items()} == {
        name: concept for name, [concept] in meanings.items()
    }


def test_names_are_written_as_they_are_looked_up():
    names = {name.rstrip("?") for table in NAMES.values() for each in table.values() for name in each.split()}
    assert [name for name in (*names, *AMBIGUOUS) if plain_name(name) != name] == []


def test_the_algorithm_decides():
    assert concepts("ppo")["n_steps"] == ("rollout_steps", True)
    assert concepts("dqn")["n_steps"] == ("n_step", True)
    assert concepts("ppo")["batch_size"] == ("minibatch", False)
    assert "n_steps" not in concepts("own")


def test_fields_of_ours():
    assert concept_of_field("gamma", "ppo") == "discount"
    assert concept_of_field("steps", "ppo") == "rollout_steps"
    assert concept_of_field("alpha", "sac") == "alpha"
    assert concept_of_field("alpha", "dqn") == "priority_alpha"
    assert concept_of_field("third", "ppo") == "=third"
