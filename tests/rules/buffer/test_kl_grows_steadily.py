import numpy as np

from rldebug.evidence.run import Run
from rldebug.rules.buffer.kl_grows_steadily import KlGrowsSteadily
from tests.judge import fires, not_enough, quiet

GROWING = [0.0, 1e-4, *np.geomspace(1e-3, 2.0, 18)]


def first_minibatches(kl, **more):
    return Run.from_series({"policy/kl": kl, "policy/first_log_ratio": [10 * each**0.5 for each in kl], **more})


def test_fires_when_the_buffer_grows_and_the_divergence_with_it():
    run = first_minibatches(
        GROWING, **{"rollout/steps": [64.0 * (i + 1) for i in range(20)], "policy/logp_from_rollout": [1.0] * 20}
    )
    assert fires(KlGrowsSteadily(), run).severity == "warning"


def test_fires_when_old_log_probs_stay_those_of_the_first_rollout():
    share = [1.0, *[0.0] * 19]
    run = first_minibatches(GROWING, **{"rollout/steps": [64.0] * 20, "policy/logp_from_rollout": share})
    assert fires(KlGrowsSteadily(), run).severity == "warning"


def test_fires_as_a_note_when_nothing_says_where_the_data_comes_from():
    assert (
        fires(KlGrowsSteadily(), Run.from_series({"policy/kl": [0.0, *np.geomspace(1e-3, 2.0, 39)]})).severity == "note"
    )


def test_quiet_when_the_first_minibatch_is_always_the_acting_policy():
    quiet(KlGrowsSteadily(), first_minibatches([0.0, 1e-9, 0.0, 2e-9] * 5))


def test_quiet_when_dropout_blurs_the_rows_of_the_newest_rollout():
    run = first_minibatches(GROWING, **{"rollout/steps": [64.0] * 20, "policy/logp_from_rollout": [1.0] * 20})
    quiet(KlGrowsSteadily(), run)


def test_quiet_when_later_minibatches_diverge_as_they_should():
    kl = [0.0, 0.002, 0.01, 0.02] * 10
    firsts = [0.0, None, None, None] * 10
    quiet(KlGrowsSteadily(), Run.from_series({"policy/kl": kl, "policy/first_log_ratio": firsts}))


def test_quiet_when_a_stale_actor_keeps_a_steady_distance():
    quiet(KlGrowsSteadily(), first_minibatches([0.0, *[0.05, 0.07, 0.04, 0.06] * 5]))


def test_quiet_when_a_replay_buffer_has_turned_over():
    quiet(KlGrowsSteadily(), Run.from_series({"policy/kl": [0.0, 0.01, 0.1, *[0.8, 1.1, 0.9, 1.0] * 10]}))


def test_declines_on_a_few_rollouts():
    not_enough(KlGrowsSteadily(), first_minibatches(GROWING[:5]))


def test_only_a_note_when_the_batch_holds_new_rows_too():
    """An off-policy learner whose replay is still filling."""
    share = [1.0, *[1 / (1 + i) for i in range(19)]]
    run = first_minibatches(GROWING, **{"rollout/steps": [64.0] * 20, "policy/logp_from_rollout": share})
    assert fires(KlGrowsSteadily(), run).severity == "note"
