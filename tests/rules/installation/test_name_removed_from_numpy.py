import pytest

from rldebug.rules.installation.name_removed_from_numpy import NameRemovedFromNumpy
from tests.judge import quiet
from tests.rules.sources import points_at, text


@pytest.mark.parametrize(
    ("code", "instead"),
    [
        ("import numpy as np\nx = np.zeros(3, dtype=np.float)  # here", "float"),
        ("import numpy\nif done:\n    ended = numpy.bool8(done)  # here", "numpy.bool_"),
        ("import numpy as np\ndef worst():\n    return -np.Inf  # here", "np.inf"),
    ],
)
def test_fires_at_a_name_that_is_gone(code, instead):
    finding = points_at(NameRemovedFromNumpy(), code)
    assert [each.text for each in finding.edits] == [instead]


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nx = np.float32(1)\ny = np.bool_(1)\nz = np.inf\nb = np.bool",
        "import numpy as np\ntry:\n    kind = np.bool8\nexcept AttributeError:\n    kind = np.bool_",
        "import numpy as np\nkind = np.float_ if hasattr(np, 'float_') else np.float64",
        "import numpy as np\nif np.__version__ < '2':\n    kind = np.float_",
        "import jax.numpy as np\nx = np.float",
        "class np:\n    float = 1\nnp.float",
    ],
)
def test_quiet_about_names_that_are_there(code):
    quiet(NameRemovedFromNumpy(), text(code))
