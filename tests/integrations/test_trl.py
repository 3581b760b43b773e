"""RLDebugCallback: what TRL's trainers do with answers is watched from within, and nothing changes by it."""

# ruff: noqa: E402 (the library is asked for first)

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

trl = pytest.importorskip("trl", reason="TRL is in the extra `trl`, which is not installed")
pytest.importorskip("transformers", reason="transformers is in the extra `trl`, which is not installed")

import datasets
import transformers

import rldebug
from rldebug import catalogue
from rldebug.capture import session as sessions
from rldebug.evidence.generations import FILE, read_generations
from rldebug.integrations.trl import RLDebugCallback, watch
from tests import planted_trl
from tests.integrations import pages
from tests.planted_trl.handed_over_log_probs_shifted import rollout
from tests.planted_trl.job import Job, likes_a, likes_letters, model, prompts, tokenizer

pytestmark = [
    pytest.mark.integration,
    # TRL 1.16 still calls what transformers 5.23 has renamed, and says that rollout functions are new.
    pytest.mark.filterwarnings("ignore:.*is deprecated and will be removed:FutureWarning"),
    pytest.mark.filterwarnings("ignore:You are using 'rollout_func'"),
    # A sampler that is asked for a temperature and for greedy answers, as planted.
    pytest.mark.filterwarnings("ignore:.*generation flags are not valid"),
    # Reductions over groups of which none can be scored.
    pytest.mark.filterwarnings("ignore:.*degrees of freedom"),
    # The folder that the library keeps checkpoints in is made by it.
    pytest.mark.filterwarnings("ignore:.*pin_memory.*:UserWarning"),
]


@pytest.fixture(autouse=True)
def silent():
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()


def trained(job, folder, **options):
    trainer = job.make(folder / "out")
    callback = RLDebugCallback("job", folder=folder / "runs", quiet=True, **{**job.watch, **options})
    trainer.add_callback(callback)
    trainer.train()
    return trainer, callback


def loud(report):
    return [(each.code, each.message, each.seen) for each in report.findings if each.severity != "note"]


def weights(trainer):
    return torch.cat([each.detach().flatten() for each in trainer.model.parameters()])


def test_the_example_of_the_page_runs(capsys):
    scope = pages.run("trl")
    assert loud(scope["watch"].report) == []
    assert not scope["watch"].broken
    assert "nothing wrong found" in capsys.readouterr().err
    assert (Path(".rldebug/runs/letters") / FILE).exists()


# ── planted ──


@pytest.mark.parametrize("name", planted_trl.names())
def test_a_planted_bug_is_named(name, tmp_path):
    bug, job = planted_trl.planted(name), Job()
    bug.plant(job)
    _, callback = trained(job, tmp_path)
    report = callback.report
    roots = [each.code for each in report.roots if each.severity != "note"]
    assert bug.EXPECT in roots, (roots, loud(report))
    assert report.suspects[0].component == catalogue.find(bug.EXPECT).component(), loud(report)
    assert not callback.broken
    assert not report.broken


# ── sound ──


def ends(completion_ids, **kwargs):
    return [float(each[-1] == 1) for each in completion_ids]


def sometimes(completions, **kwargs):
    return [None if place % 3 == 0 else float("a" in each) for place, each in enumerate(completions)]


def kind_words(completions, **kwargs):
    return likes_letters([each[-1]["content"] for each in completions])


def chatty():
    made = tokenizer()
    made.chat_template = "{% for each in messages %}{{ each['content'] }} {% endfor %}"
    return made


def qwen():
    config = transformers.Qwen2Config(**{**model().config.to_diff_dict(), "model_type": "qwen2"})
    return transformers.Qwen2ForCausalLM(config)


SOUND = {
    "grpo": Job(settings={"loss_type": "grpo", "beta": 0.04}, watch={"score_again": True}),
    "bnpo twice": Job(settings={"loss_type": "bnpo", "num_iterations": 2, "max_steps": 16}, seed=1),
    "dr_grpo": Job(settings={"loss_type": "dr_grpo", "scale_rewards": "none"}, rewards=[likes_a], seed=2),
    "dapo": Job(
        settings={"loss_type": "dapo", "scale_rewards": "batch", "epsilon_high": 0.28},
        rewards=[likes_letters, likes_a],
        seed=3,
    ),
    "rloo": Job(algorithm="RLOO", settings={"beta": 0.05}),
    "rloo normalised": Job(
        algorithm="RLOO",
        settings={"normalize_advantages": True, "num_iterations": 2, "learning_rate": 2e-4},  # ratios of whole answers
        seed=4,
    ),
    "accumulated": Job(
        settings={"gradient_accumulation_steps": 2, "per_device_train_batch_size": 8, "beta": 0.01}, seed=5
    ),
    "steps per generation": Job(
        settings={"steps_per_generation": 4, "per_device_train_batch_size": 8, "max_steps": 16}, seed=6
    ),
    "cut distribution": Job(settings={"temperature": 0.7, "top_p": 0.9, "top_k": 10}, seed=7),
    "sequence ratios": Job(
        settings={"importance_sampling_level": "sequence", "num_iterations": 2, "beta": 0.02}, seed=9
    ),
    "cut answers masked": Job(
        settings={"mask_truncated_completions": True, "max_completion_length": 24}, rewards=[ends], seed=10
    ),
    "not all scored": Job(rewards=[sometimes, likes_letters], watch={"score_again": True}, seed=11),
    "normalised apart": Job(
        settings={"multi_objective_aggregation": "normalize_then_sum"}, rewards=[likes_letters, likes_a], seed=14
    ),
    "messages": Job(
        prompts=[[{"role": "user", "content": each}] for each in prompts()],
        tokenizer=chatty,
        rewards=[kind_words],
        seed=15,
    ),
    "rollout function": Job(extra={"rollout_func": rollout}, seed=17),
    "qwen": Job(model=qwen, settings={"loss_type": "cispo", "epsilon_high": 5.0}, seed=18),
    "entropy bonus": Job(settings={"entropy_coef": 0.01, "top_entropy_quantile": 0.5, "beta": 0.05}, seed=16),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_job_is_quiet(name, tmp_path):
    _, callback = trained(SOUND[name], tmp_path)
    assert loud(callback.report) == []
    assert not callback.broken
    assert not callback.report.broken
    assert not callback.report.problems


# ── what is kept ──


def test_every_answer_is_kept_with_what_was_done_to_it(tmp_path):
    trainer, _ = trained(Job(settings={"beta": 0.1, "max_steps": 4}), tmp_path)
    seen = read_generations(tmp_path / "runs" / "job")
    assert seen.settings["algorithm"] == "GRPOTrainer"
    assert (len(seen.rounds), len(seen.passes), seen.answers) == (4, 4, 64)
    assert not seen.unseen
    assert not seen.problems
    for each in seen.rounds:
        reward = each.column("reward").reshape(4, 4)
        centred = reward - reward.mean(1, keepdims=True)
        expected = (centred / (reward.std(1, ddof=1, keepdims=True) + 1e-4)).ravel()
        assert np.allclose(each.column("advantage"), expected, atol=1e-4)
        assert np.nanmax(each.column("alone")) < 1e-4
        assert (each.column("asked") == each.column("prompt")).all()
    for each in seen.passes:
        assert each.age == 0
        assert np.nanmax(each.column("sampled_k3")) < 1e-6
        assert np.nanmax(each.column("outside")) == 0
    assert len(seen.logged("kl")) == 4
    assert {"moved", "moved_updates"} <= seen.rounds[-1].facts.keys()
    assert json.loads((tmp_path / "runs" / "job" / "run.json").read_text())["declared"]["loss_type"] == "dapo"
    assert not any(name in vars(trainer) for name in ("_generate", "_compute_loss"))  # taken away again


def test_watching_changes_no_weight(tmp_path):
    settings = {"beta": 0.1, "num_iterations": 2, "max_steps": 6}
    watched, _ = trained(Job(settings=settings), tmp_path, score_again=True)
    state = torch.get_rng_state()
    plain = Job(settings=settings).make(tmp_path / "plain")
    plain.train()
    assert torch.equal(weights(watched), weights(plain))
    assert torch.equal(state, torch.get_rng_state())
    assert watched.state.log_history[0]["loss"] == plain.state.log_history[0]["loss"]


def test_it_is_one_call(tmp_path):
    trainer = Job(settings={"max_steps": 2}).make(tmp_path / "out")
    callback = watch(trainer, "one", folder=tmp_path, quiet=True)
    trainer.train()
    assert callback.report is not None
    assert (tmp_path / "one" / FILE).exists()
    with pytest.raises(TypeError, match="expected a trainer of TRL"):
        watch(object())


def test_within_another_watch_it_joins_that(tmp_path):
    job = Job(settings={"max_steps": 6})
    planted_trl.planted("mean_minus_reward").plant(job)
    with rldebug.attach("outer", folder=tmp_path, quiet=True) as dbg:
        trained(job, tmp_path)
    assert (tmp_path / "outer" / FILE).exists()
    assert not (tmp_path / "runs").exists()
    assert [each.code for each in dbg.report().roots if each.severity == "error"] == ["ADV512"]


def test_answers_of_an_evaluation_are_not_looked_at(tmp_path):
    job = Job(settings={"max_steps": 4, "eval_strategy": "steps", "eval_steps": 2, "per_device_eval_batch_size": 8})
    job.extra = {"eval_dataset": datasets.Dataset.from_list([{"prompt": each} for each in prompts(8)])}
    _, callback = trained(job, tmp_path)
    seen = read_generations(tmp_path / "runs" / "job")
    assert [each.update for each in seen.rounds] == [0, 1, 2, 3]
    assert len(seen.passes) == 4
    assert loud(callback.report) == []


def test_methods_that_a_version_does_not_have_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("rldebug.integrations.trl._METHODS", ("_compute_loss", "_renamed"))
    _, callback = trained(Job(settings={"max_steps": 2}), tmp_path)
    assert any("_renamed" in each for each in callback.report.problems)
    assert not callback.broken


def test_a_look_that_fails_is_left_out_and_listed(tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise RuntimeError("no such luck")

    monkeypatch.setattr("rldebug.integrations.trl_rounds.Watcher._told_of", fails)
    trainer, callback = trained(Job(settings={"max_steps": 3}), tmp_path)
    assert trainer.state.global_step == 3
    assert any("no such luck" in each for each in callback.report.problems)


def test_what_train_raises_is_told(tmp_path):
    def breaks(completions, **kwargs):
        raise ZeroDivisionError("no answer is that bad")

    trainer = Job(rewards=[breaks]).make(tmp_path / "out")
    callback = RLDebugCallback("broken", folder=tmp_path, quiet=True)
    trainer.add_callback(callback)

    def train():
        with callback:
            trainer.train()

    with pytest.raises(ZeroDivisionError):
        train()
    assert callback.report is not None
    assert sessions.current() is None
    assert json.loads((tmp_path / "broken" / "run.json").read_text())["state"] == "crashed"


def test_without_the_library_it_says_what_to_install():
    program = "import sys; sys.modules['transformers'] = None; import rldebug.integrations.trl"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'rldebug[trl]'" in ended.stderr
