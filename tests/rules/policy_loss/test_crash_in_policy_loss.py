import torch
from torch import nn
from torch.nn import functional as F

from rldebug.rules.policy_loss.crash_in_policy_loss import CrashInPolicyLoss
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_ratio_is_clipped_without_limits():
    def program():
        logp = nn.Linear(3, 2)(torch.zeros(5, 3)).log_softmax(-1)[:, 0]
        ratio = (logp - logp.detach()).exp()
        return ratio.clamp()

    assert "ratio" in names(CrashInPolicyLoss(), crashed(program)).seen


def test_quiet_when_it_is_a_regression():
    quiet(
        CrashInPolicyLoss(), crashed(lambda: F.mse_loss(nn.Linear(3, 1)(torch.zeros(5, 3)).squeeze(-1), torch.zeros(7)))
    )
