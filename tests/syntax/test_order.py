import ast

import pytest

from rldebug.syntax.order import only_summed_up
from tests.rules.sources import text


def summed_up(code):
    source = text(code)
    made = [each.targets[0] for each in source.tree.body if isinstance(each, ast.Assign)]
    return only_summed_up(source, next(each for each in made if ast.unparse(each) == "kept"))


@pytest.mark.parametrize(
    "code",
    [
        "kept = []\nscale = 1 / len(kept)",
        "import numpy as np\nkept = []\nspread = np.std(np.array(kept)[5:])",
        "kept = load()\ncentred = kept.ravel() - 1.0\nspread = (centred**2).mean()",
        "def moments(x):\n    return x.mean(0), x.std((0, 1))\nkept = load()\nuse(moments(kept))",
        "def other():\n    kept = 1\n    use(kept)\nkept = load()\nprint(kept, max(kept))",
    ],
)
def test_a_number_about_all_of_it(code):
    assert summed_up(code)


@pytest.mark.parametrize(
    "code",
    [
        "kept = []\nfor each in kept:\n    use(each)",
        "kept = load()\nuse(kept.mean(), kept[3])",
        "kept = load()\nuse(kept.mean(axis=1))",
        "kept = load()\nloss = (kept * scores).mean()",
        "def moments(x):\n    return (x - x.mean()) / x.std()\nkept = load()\nuse(moments(kept))",
        "kept = load()",
        "kept = load()\ndef give():\n    return kept",
    ],
)
def test_numbers_that_someone_may_look_at_one_by_one(code):
    assert not summed_up(code)
