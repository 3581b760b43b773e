from rldebug.evidence.run import Run
from rldebug.rules.discounting.returns_not_carried_back import ReturnsNotCarriedBack
from tests.judge import fires, not_enough, quiet

N = 30


def run(last=(0.98, 0.9), before=(0.3, 0.05), count=12.0, width=1.05, gamma=0.9):
    targets = {} if width is None else {"target/std": [0.2 * width] * N, "reward/std": [0.2] * N}
    return Run.from_series(
        {
            "value/terminal_corr": [last[0]] * N,
            "value/terminal_slope": [last[1]] * N,
            "value/terminal_count": [count] * N,
            "value/penultimate_corr": [before[0]] * N,
            "value/penultimate_slope": [before[1]] * N,
            "value/penultimate_count": [count] * N,
            **targets,
        },
        meta={"gamma": gamma},
    )


def test_fires_when_only_the_last_state_follows_the_final_reward():
    assert fires(ReturnsNotCarriedBack(), run()).severity == "warning"


def test_fires_when_what_little_is_left_happens_to_correlate():
    fires(ReturnsNotCarriedBack(), run(before=(0.95, 0.05)))


def test_only_a_note_without_targets():
    assert fires(ReturnsNotCarriedBack(), run(width=None)).severity == "note"


def test_quiet_when_the_state_before_follows_too():
    quiet(ReturnsNotCarriedBack(), run(before=(0.97, 0.8)))


def test_quiet_when_the_outcome_shows_in_the_last_state_only():
    quiet(ReturnsNotCarriedBack(), run(before=(0.02, 0.01), width=1.6))


def test_quiet_when_the_critic_knows_neither():
    quiet(ReturnsNotCarriedBack(), run(last=(0.1, 0.05), before=(0.05, 0.02)))


def test_quiet_when_the_discount_leaves_nothing_to_carry():
    quiet(ReturnsNotCarriedBack(), run(gamma=0.0))


def test_declines_on_few_terminations():
    not_enough(ReturnsNotCarriedBack(), run(count=3.5))
