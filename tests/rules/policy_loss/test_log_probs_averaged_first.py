import pytest

from rldebug.rules.policy_loss.log_probs_averaged_first import LogProbsAveragedFirst
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        log_probs = []
        for obs in rows:
            dist = policy(obs)
            log_probs.append(dist.log_prob(dist.sample()))
        loss = -(torch.stack(log_probs).mean() * returns).sum()  # here
        """,
        """
        import torch

        class Agent:
            def update(self, batch):
                logp = self.policy(batch.obs).log_prob(batch.act)
                average = logp.mean()
                return torch.mean(-average * batch.advantages)  # here
        """,
    ],
)
def test_fires_where_one_number_meets_all_weights(code):
    points_at(LogProbsAveragedFirst(), code)


@pytest.mark.parametrize(
    "code",
    [
        "logp = dist.log_prob(a)\nloss = -(logp * returns).mean()",
        "logp = dist.log_prob(a).sum(-1)\nloss = -(logp * returns).mean()",
        "logp = dist.log_prob(a).sum()\nloss = -logp * total_return",
        "loss = (0.01 * dist.entropy().mean() * 2).sum()",
        "loss = -(values.mean() * returns).sum()",
        "logp = dist.log_prob(a)\nloss = (logp.mean() * 0.5).sum()",
    ],
)
def test_quiet_about_scores_that_are_weighted_one_by_one(code):
    quiet(LogProbsAveragedFirst(), text(code))
