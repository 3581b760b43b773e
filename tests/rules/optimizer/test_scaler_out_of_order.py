import torch

from rldebug.rules.optimizer.scaler_out_of_order import ScalerOutOfOrder
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_nothing_was_scaled():
    def program():
        torch.amp.GradScaler("cpu").update()

    names(ScalerOutOfOrder(), crashed(program))


def test_quiet_when_there_are_no_gradients():
    quiet(ScalerOutOfOrder(), crashed(saying(AssertionError("No inf checks were recorded for this optimizer."))))
