import pytest

from rldebug.rules.preprocessing.result_dropped import ResultDropped
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        def act(net, obs, device):
            x = torch.as_tensor(obs)
            x.to(device)  # here
            return net(x)
        """,
        """
        import numpy as np
        class Noise:
            def act(self, mean):
                action = mean + 0.1 * np.random.randn(3)
                np.clip(action, -1.0, 1.0)  # here
                return action
        """,
        """
        import torch
        ratio = torch.ones(4)
        ratio.clamp(0.8, 1.2)  # here
        torch.clamp(ratio, 0.8, 1.2)  # here
        """,
        """
        import os
        def save(folder):
            os.path.join(folder, "best")  # here
            return folder
        """,
    ],
)
def test_fires_on_lines_without_effect(code):
    points_at(ResultDropped(), code)


@pytest.mark.parametrize(
    "code",
    [
        """
        import torch
        net = torch.nn.Linear(2, 2)
        net.to("cpu")
        net.float()
        net.train()
        """,
        """
        import torch
        x = torch.ones(3)
        x.clamp_(0, 1)
        x.copy_(x)
        x = x.to("cpu")
        """,
        """
        import numpy as np
        x = np.ones(3)
        np.clip(x, 0, 1, out=x)
        x.sort()
        """,
        """
        import pytest
        import torch
        def test_it():
            x = torch.ones(3)
            with pytest.raises(RuntimeError):
                x.to("nowhere")
        """,
        """
        agent.to(device)
        """,
    ],
)
def test_quiet_on_lines_with_effect(code):
    quiet(ResultDropped(), text(code))
