import numpy as np

from rldebug.rules.policy_loss.surrogate_takes_wrong_branch import SurrogateTakesWrongBranch
from tests.programs.losses_made import script as made_script
from tests.programs.losses_made import term as made_term
from tests.programs.policies import found, ppo
from tests.watched import findings

CODE = "POL303"


def test_fires_where_the_larger_gain_is_taken():
    (finding,) = findings(lambda: ppo("larger"), CODE, overhead_budget=1.0)
    assert finding.component == "policy-loss"
    assert finding.seen


def test_fires_where_the_bound_holds_for_all_rows():
    assert findings(lambda: ppo("dual clip"), CODE, overhead_budget=1.0)


def test_fires_where_advantages_are_normalised_in_between():
    assert findings(lambda: ppo("two advantages"), CODE, overhead_budget=1.0)


def test_quiet_where_the_smaller_gain_is_taken():
    assert not found(CODE)


def beside_what_cannot_be_computed(nested: str, outer: float) -> int:
    audits = []
    for number in range(4):
        draw = np.random.default_rng(number)
        ratio, weight = np.exp(0.3 * draw.normal(size=32)), draw.normal(size=32)
        detail = {"clip": [0.8, 1.2], "nested": nested, "outer": outer, "coefficient": -1.0, "scale": -1 / 32}
        audits.append([[made_term(1, number, ratio=ratio, weight=weight, **detail), made_term(2, number, "other")]])
    return len(list(SurrogateTakesWrongBranch().check(made_script(audits))))


def test_fires_by_how_it_is_written_beside_what_cannot_be_computed() -> None:
    assert beside_what_cannot_be_computed("max", -1.0) == beside_what_cannot_be_computed("min", 1.0) == 1


def test_quiet_by_how_it_is_written_beside_what_cannot_be_computed() -> None:
    assert beside_what_cannot_be_computed("min", -1.0) == beside_what_cannot_be_computed("max", 1.0) == 0
