import pytest

from rldebug.rules.network.dropout_never_switched_off import DropoutNeverSwitchedOff
from tests.judge import quiet
from tests.rules.sources import points_at, text

HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.functional import dropout

"""


@pytest.mark.parametrize(
    "code",
    [
        "class A(nn.Module):\n    def forward(self, x):\n        return self.head(F.dropout(x, p=0.1))  # here",
        "class A(nn.Module):\n    def value(me, x):\n        x = dropout(me.body(x))  # here\n        return x",
    ],
)
def test_fires_where_eval_does_not_reach_it(code):
    finding = points_at(DropoutNeverSwitchedOff(), HEAD + code)
    assert finding.edits[0].text.startswith(", training=")


@pytest.mark.parametrize(
    "code",
    [
        "class A(nn.Module):\n    def forward(self, x):\n        return F.dropout(x, 0.1, self.training)",
        "class A(nn.Module):\n    def forward(self, x):\n        return F.dropout(x, p=0.1, training=True)",
        "class A(nn.Module):\n    def forward(self, x):\n        return nn.Dropout(0.1)(x)",
        "def augment(x):\n    return F.dropout(x, 0.1)",
        "class A(nn.Module):\n    def forward(self, x, **options):\n        return F.dropout(x, **options)",
    ],
)
def test_quiet_where_it_is_told(code):
    quiet(DropoutNeverSwitchedOff(), text(HEAD + code))
