from rldebug.rules.autograd_graph.missing_gradient import MissingGradient
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import NAN, READINGS, audit, detailed, moving, row

CRITIC = ("critic.0.weight", "critic.0.bias")


def run(critic, reach=None, frozen=(), readings=READINGS):
    """The policy learns; `critic(i)` gives the critic's rows at the i-th detailed reading."""
    tables = moving(("policy.0.weight", "policy.0.bias"), readings)
    for i, each in enumerate(tables):
        tables[i] = {"parameters": {**each["parameters"], **{name: critic(i) for name in CRITIC}}}
    modules = audit()["modules"]
    modules["critic"] = {**modules["critic"], "frozen": list(frozen)}
    facts = {"gradients": {"optimizer": {"missing": list(CRITIC)}}, "parameters": audit(modules=modules)}
    if reach is not None:
        facts["reach"] = reach
    return detailed(tables, facts=facts)


def none(i):
    return row(NAN, step=0.0)


def test_fires_when_a_loss_reaches_what_never_gets_a_gradient():
    reach = {"value": {"critic": {"reached": 2, "of": 2, "missing": []}}}
    finding = fires(MissingGradient(), run(none, reach))
    assert finding.severity == "error"
    assert "value" in finding.help


def test_a_warning_when_a_whole_network_is_in_no_loss():
    reach = {"policy": {"critic": {"reached": 0, "of": 2, "missing": list(CRITIC)}}}
    assert fires(MissingGradient(), run(none, reach)).severity == "warning"


def test_a_note_when_only_a_head_is_in_no_loss():
    reach = {"policy": {"policy": {"reached": 2, "of": 4, "missing": ["policy.v.weight", "policy.v.bias"]}}}
    tables = moving(("policy.0.weight", "policy.0.bias"))
    for i, each in enumerate(tables):
        head = {name: none(i) for name in ("policy.v.weight", "policy.v.bias")}
        tables[i] = {"parameters": {**each["parameters"], **head}}
    finding = fires(MissingGradient(), detailed(tables, facts={"gradients": {}, "reach": reach, "parameters": audit()}))
    assert finding.severity == "note"


def test_quiet_when_the_weights_change_in_steps_that_are_not_recorded():
    reach = {"value": {"critic": {"reached": 2, "of": 2, "missing": []}}}
    quiet(MissingGradient(), run(lambda i: row(NAN, step=0.0, norm=8.0 + 0.01 * i), reach))


def test_quiet_when_the_gradient_is_there_at_some_readings():
    quiet(MissingGradient(), run(lambda i: none(i) if i % 2 else row(0.1)))


def test_quiet_when_the_encoder_is_frozen():
    quiet(MissingGradient(), run(none, frozen=CRITIC))


def test_declines_after_a_few_updates():
    not_enough(MissingGradient(), run(none, readings=4))
