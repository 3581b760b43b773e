import torch.nn as nn
import torch.nn.functional as F


class Eye(nn.Module):
    """Convolutional trunk."""

    def __init__(self, layers, side, channels, width):
        super().__init__()
        self.conv = nn.Conv2d(layers, channels, kernel_size=3, padding=1)
        self.flat = nn.Linear(channels * side * side, width)

    def forward(self, picture):
        x = F.elu(self.conv(picture))
        return F.elu(self.flat(x.flatten(1)))


class TwinValues(nn.Module):
    """Two sets of action values on one trunk."""

    def __init__(self, eye, width, n_actions):
        super().__init__()
        self.eye = eye
        self.heads = nn.ModuleList(nn.Linear(width, n_actions) for _ in range(2))

    def forward(self, picture):
        x = self.eye(picture)
        return self.heads[0](x), self.heads[1](x)


class Policy(nn.Module):
    def __init__(self, eye, width, n_actions):
        super().__init__()
        self.eye = eye
        self.out = nn.Linear(width, n_actions)

    def forward(self, picture):
        """Log-probabilities of all actions."""
        return F.log_softmax(self.out(self.eye(picture)), dim=1)
