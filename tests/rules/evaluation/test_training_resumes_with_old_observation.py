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


def resetting(told):
    """A callback resets the environment before each rollout; the loop is told of it, or goes on with what it had."""
    torch.manual_seed(0)
    env, net = Corridor(), torch.nn.Linear(3, 3)
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    obs, _ = env.reset(seed=1)
    for _ in range(12):
        fresh, _ = env.reset()
        obs = fresh if told else obs
        losses = []
        for _ in range(20):
            dist = torch.distributions.Categorical(logits=net(torch.as_tensor(obs)[None]))
            action = dist.sample()
            obs, reward, ended, cut, _ = env.step(int(action))
            losses.append(-dist.log_prob(action) * reward)
            obs = env.reset()[0] if ended or cut else obs
        optimizer.zero_grad()
        torch.cat(losses).mean().backward()
        optimizer.step()


def test_fires_where_the_loop_is_not_told_of_a_reset():
    (finding,) = [fires(rule, watched(lambda: resetting(told=False), overhead_budget=1.0)[1])]
    assert "reset" in finding.message


def test_quiet_where_it_goes_on_with_what_the_reset_gave():
    quiet(rule, watched(lambda: resetting(told=True), overhead_budget=1.0)[1])
