import torch

from rldebug.rules.optimizer.scaler_found_no_gradients import ScalerFoundNoGradients
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_another_network_was_trained():
    def program():
        net, other = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu")
        scaler.scale(other(torch.ones(1, 2)).sum()).backward()
        scaler.step(optimizer)

    names(ScalerFoundNoGradients(), crashed(program))


def test_quiet_when_nothing_was_scaled():
    def program():
        torch.amp.GradScaler("cpu").update()

    quiet(ScalerFoundNoGradients(), crashed(program))
