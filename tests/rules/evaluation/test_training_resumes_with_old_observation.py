import torch

from rldebug.rules.evaluation.training_resumes_with_old_observation import TrainingResumesWithOldObservation
from tests.judge import fires, quiet
from tests.programs.played import Corridor, Net, program
from tests.programs.written import found
from tests.watched import watched

CODE = "EVA356"
rule = TrainingResumesWithOldObservation()


def with_a_last_test(fault):
    """The same program, and then a last test in an environment of its own."""
    program(fault, rounds=14)
    env, net = Corridor(), Net()
    obs, _ = env.reset(seed=99)
    for _ in range(20):
        with torch.no_grad():
            scores, _ = net(torch.as_tensor(obs)[None], torch.zeros(1, 8))
        obs, _, _, cut, _ = env.step(int(scores.argmax()))
        if cut:
            obs, _ = env.reset()


def test_fires_although_another_environment_is_played_later():
    script = watched(lambda: with_a_last_test("shared"), overhead_budget=1.0)[1]
    assert "from before a reset" in fires(rule, script).seen


def test_quiet_where_both_are_environments_of_their_own():
    quiet(rule, watched(lambda: with_a_last_test(""), overhead_budget=1.0)[1])


def test_fires_where_the_training_env_is_played_in_between():
    (finding,) = found(CODE, "shared", "played")
    assert finding.component == "evaluation"
    assert finding.seen


def test_quiet_where_the_evaluation_has_its_own():
    assert not found(CODE, kind="played")
