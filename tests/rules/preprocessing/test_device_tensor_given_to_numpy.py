import numpy as np
import torch

from rldebug.rules.preprocessing.device_tensor_given_to_numpy import DeviceTensorGivenToNumpy
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_an_action_goes_to_the_environment_as_it_is():
    def program():
        action = torch.zeros(2, device="meta")
        return action.numpy()

    assert "action.cpu().numpy()" in names(DeviceTensorGivenToNumpy(), crashed(program)).help


def test_fires_when_numpy_is_asked():
    names(DeviceTensorGivenToNumpy(), crashed(lambda: np.asarray(torch.zeros(2, device="meta"))))


def test_quiet_when_the_tensor_has_a_graph():
    quiet(DeviceTensorGivenToNumpy(), crashed(lambda: torch.zeros(2, requires_grad=True).numpy()))
