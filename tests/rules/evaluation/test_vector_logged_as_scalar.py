import torch
from torch.utils.tensorboard import SummaryWriter

from rldebug.rules.evaluation.vector_logged_as_scalar import VectorLoggedAsScalar
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_batch_of_losses_is_logged():
    def program():
        losses = torch.ones(3)
        SummaryWriter.__new__(SummaryWriter).add_scalar("loss", losses, 0)

    names(VectorLoggedAsScalar(), crashed(program))


def test_quiet_when_a_tensor_is_turned_into_a_number():
    def program():
        return torch.ones(3).item()

    quiet(VectorLoggedAsScalar(), crashed(program))
