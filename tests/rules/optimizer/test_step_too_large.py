from math import log10, sqrt

from rldebug.evidence.run import Run
from rldebug.rules.optimizer.step_too_large import StepTooLarge
from tests.judge import fires, not_enough, quiet
from tests.rules.detailed import row

SIZE = 6400  # weights, of root mean square 0.1 at the start: norm 8


def run(step, weight, size=SIZE, n=60, name="", tensors=4):
    steps = [step(i) for i in range(n)]
    weights = [weight(i) for i in range(n)]
    return Run.from_series(
        {
            f"step/norm{name}": steps,
            f"step/rms{name}": [each / sqrt(size) for each in steps],
            f"step/log10_ratio{name}": [log10(each / of) for each, of in zip(steps, weights, strict=True)],
            f"weight/norm{name}": weights,
            f"optimizer/lr{name}": [1e-3] * n,
        },
        tables={f"parameters{name}": {f"policy.{i}": row() for i in range(tensors)}},
    )


def test_fires_when_a_step_is_half_the_weights():
    assert "10^-0.3" in fires(StepTooLarge(), run(lambda i: 4.0, lambda i: 8.0)).seen


def test_fires_when_the_weights_have_been_thrown_far_out():
    found = fires(StepTooLarge(), run(lambda i: 20.0, lambda i: 21.5 + 20.0 * i, name="@critic"))
    assert "critic" in found.message


def test_fires_when_the_first_steps_alone_outweigh_the_start():
    fires(StepTooLarge(), run(lambda i: 50.0 if i < 10 else 0.1, lambda i: 50.6 + 20 * min(i, 10)))


def test_quiet_when_only_the_first_steps_are_large():
    quiet(StepTooLarge(), run(lambda i: 2.0 if i < 8 else 0.02, lambda i: 8.0))


def test_quiet_when_steps_are_a_hundredth_of_the_weights():
    quiet(StepTooLarge(), run(lambda i: 0.08, lambda i: 8.0))


def test_declines_on_a_temperature_that_starts_at_zero():
    not_enough(StepTooLarge(), run(lambda i: 1e-3, lambda i: 1e-3 * (i % 3 + 1), size=1))


def test_quiet_when_a_table_or_a_linear_policy_starts_at_zero():
    quiet(StepTooLarge(), run(lambda i: 0.1, lambda i: 0.1 + 0.1 * i, size=200))
    quiet(StepTooLarge(), run(lambda i: 5.0, lambda i: 5.0 + 5.0 * i, size=3000, tensors=1))
