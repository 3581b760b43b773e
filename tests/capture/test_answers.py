import math

import numpy as np
import torch
from torch import nn

from rldebug.capture.answers import Answers, Draws, compared, fingerprint, k3, mean_within, pushed, undisturbed


def test_fingerprints_are_of_the_tokens():
    assert fingerprint([1, 2, 3]) == fingerprint((1, 2, 3))
    assert fingerprint([1, 2, 3]) != fingerprint([1, 2])
    assert fingerprint("a b") != fingerprint("a c")


def test_draws_are_told_with_how_likely_they_were():
    torch.manual_seed(0)
    chances = torch.softmax(torch.randn(4, 3, 5), -1)
    before = torch.multinomial
    draws = Draws()
    with draws.listening():
        tokens = torch.cat([torch.multinomial(chances[place], num_samples=1) for place in range(4)], 1)
    assert torch.multinomial is before
    answers = [tokens[0].tolist(), tokens[1, :2].tolist(), tokens[2].tolist()]
    said, cut = draws.of(answers)
    assert [len(each) for each in said] == [4, 2, 4]
    assert said[0][1] == math.log(chances[1, 0, tokens[0, 1]])
    assert cut == [False] * 3
    assert draws.of([[9, 9], [9], [9]]) is None  # other tokens
    assert draws.of(answers[:2]) is None  # other answers
    assert draws.of([[*answers[0], 1], *answers[1:]]) is None  # longer than was drawn


def test_a_distribution_that_was_cut_is_told():
    chances = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    draws = Draws()
    with draws.listening():
        tokens = torch.multinomial(chances, 1)
    assert draws.of(tokens.tolist())[1] == [True, False]


def test_drawing_is_the_same_with_and_without_a_listener():
    chances = torch.softmax(torch.randn(8, 50), -1)
    torch.manual_seed(1)
    plain = torch.multinomial(chances, 1)
    torch.manual_seed(1)
    with Draws().listening():
        heard = torch.multinomial(chances, num_samples=1)
    assert torch.equal(plain, heard)


def test_what_fails_in_a_listener_is_kept(monkeypatch):
    draws = Draws()
    monkeypatch.setattr(draws, "_listen", lambda *_: 1 / 0)
    with draws.listening():
        torch.multinomial(torch.ones(2, 3), 1)
    assert "ZeroDivisionError" in draws.broken


def test_the_estimate_is_of_the_divergence():
    generator = np.random.default_rng(0)
    p, q = np.array([0.7, 0.2, 0.1]), np.array([0.5, 0.3, 0.2])
    drawn = generator.choice(3, size=200_000, p=p)
    exact = float((p * np.log(p / q)).sum())
    assert abs(float(k3(np.log(p)[drawn], np.log(q)[drawn]).mean()) - exact) < 0.002
    assert (k3(generator.normal(size=99), generator.normal(size=99)) >= 0).all()


def test_means_are_within_the_mask():
    values = np.array([[1.0, 2.0, 9.0], [9.0, 9.0, 9.0]])
    mask = np.array([[True, True, False], [False, False, False]])
    assert mean_within(values, mask)[0] == 1.5
    assert math.isnan(mean_within(values, mask)[1])


def test_log_probs_that_are_not_known_are_left_out():
    ours, theirs = np.array([[-1.0, -2.0]]), np.array([[-1.5, math.nan]])
    size, estimate = compared(ours, theirs, np.ones((1, 2), dtype=bool))
    assert size[0] == 0.5
    assert estimate[0] > 0


def test_pushes_are_told_from_the_gradient():
    torch.manual_seed(0)
    logps = torch.randn(3, 5, requires_grad=True)
    reference = logps.detach() + torch.randn(3, 5)
    mask = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
    advantage = torch.tensor([[2.0], [-1.0], [0.0]])
    ratio = (logps - logps.detach()).exp()
    difference = reference - logps
    loss = -(ratio * advantage) + 0.1 * (difference.exp() - difference - 1)
    (loss * mask).sum().backward()
    away = 1 - np.exp((reference - logps.detach()).double().numpy())
    told = pushed(logps.grad.double().numpy(), mask.numpy() > 0, away)
    assert np.sign(told["push"][:2]).tolist() == [1, -1]
    assert told["outside"].tolist() == [0, 0, 0]
    assert (told["hold"] > 0.999).all()
    assert (told["force"] > 0).all()
    wrong = pushed(-logps.grad.double().numpy(), mask.numpy() > 0, away)
    assert (wrong["hold"] < -0.999).all()
    everywhere = pushed(np.ones((3, 5)), mask.numpy() > 0, None)
    assert everywhere["outside"].tolist() == [1, 2, 0]
    assert "hold" not in everywhere


def test_a_last_token_without_gradient_is_told():
    mask = np.array([[True, True, True, False]])
    assert pushed(np.array([[1.0, 1.0, 0.0, 0.0]]), mask, None)["last"][0] == 0
    assert pushed(np.array([[1.0, 1.0, 1.0, 0.0]]), mask, None)["last"][0] == 1
    assert math.isnan(pushed(np.zeros((1, 4)), mask, None)["last"][0])


def test_scoring_leaves_modes_and_generators_as_they_were():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), nn.Dropout(0.1))
    model[2].eval()
    torch.manual_seed(3)
    state = torch.get_rng_state()
    with undisturbed(model):
        assert not model[1].training
        assert not torch.is_grad_enabled()
        torch.rand(5)
    assert [each.training for each in model] == [True, True, False]
    assert model.training
    assert torch.equal(state, torch.get_rng_state())


def test_a_network_can_be_scored_in_the_mode_it_is_in():
    model = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.1))
    model[1].eval()
    state = torch.get_rng_state()
    with undisturbed(model, evaluating=False):
        assert [each.training for each in model] == [True, False]
        model(torch.ones(8))
    assert torch.equal(state, torch.get_rng_state())


def test_rounds_are_looked_at_ever_more_rarely(tmp_path):
    answers = Answers(tmp_path)
    looked = [number for number in range(1, 2001) if answers.looks()]
    assert looked[:24] == list(range(1, 25))
    assert len(looked) < 90
    gaps = np.diff(looked[24:])
    assert (gaps[5:] >= 2).all()
    assert (gaps <= 0.12 * np.array(looked[25:])).all()
    answers.close()
