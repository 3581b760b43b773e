from rldebug.rules.preprocessing.tensors_on_two_devices import TensorsOnTwoDevices
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying

TEXT = "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"


def test_fires_when_a_batch_stays_behind():
    names(TensorsOnTwoDevices(), crashed(saying(RuntimeError(TEXT))))


def test_fires_when_the_weights_lie_on_the_gpu():
    text = "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same"
    names(TensorsOnTwoDevices(), crashed(saying(RuntimeError(text))))


def test_quiet_when_it_is_the_dtype():
    text = "Input type (torch.ByteTensor) and weight type (torch.FloatTensor) should be the same"
    quiet(TensorsOnTwoDevices(), crashed(saying(RuntimeError(text))))
