from rldebug.evidence.run import Run
from rldebug.rules.target_network.loss_reaches_target import LossReachesTarget
from tests.judge import fires, quiet


def run(reached, loss="value", owned=0, missing=(), unowned=("target.w",), meta=None, **series):
    reach = {loss: {"target": {"reached": reached, "of": 6, "missing": list(missing)}}}
    parameters = {"modules": {"target": {"owners": {"adam": owned}, "unowned": list(unowned)}}}
    return Run.from_series(
        {"loss/value": [1.0], **{name.replace("__", "/"): each for name, each in series.items()}},
        facts={"reach": reach, "parameters": parameters},
        meta=meta,
    )


def test_fires_when_the_target_was_not_detached():
    assert fires(LossReachesTarget(), run(6)).severity == "warning"


def test_an_error_when_an_optimizer_owns_what_it_reaches():
    assert fires(LossReachesTarget(), run(6, owned=100, unowned=())).severity == "error"


def test_fires_on_a_single_loss_of_a_value_method():
    fires(LossReachesTarget(), run(6, loss="total", meta={"modules": {"critic": 10, "target": 10}}))


def test_quiet_when_targets_are_data():
    quiet(LossReachesTarget(), run(0))


def test_quiet_when_a_policy_loss_goes_through_the_target_critic():
    quiet(LossReachesTarget(), run(6, loss="policy"))


def test_quiet_when_the_target_is_the_online_network():
    quiet(LossReachesTarget(), run(6, owned=100, unowned=(), target_net__distance=[0.0] * 5))


def test_quiet_when_only_a_shared_encoder_is_reached():
    quiet(LossReachesTarget(), run(2, owned=40, missing=("target.head",), unowned=("target.head",)))
