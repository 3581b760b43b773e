import torch
from torch import nn

from rldebug.capture.structure import audit_parameters, reach_of_losses, shapes_of


def names_of(modules):
    return {id(p): f"{key}.{path}" for key, module in modules.items() for path, p in module.named_parameters()}


def test_owners_omissions_and_overlap():
    modules = {"policy": nn.Linear(3, 2), "critic": nn.Linear(3, 1)}
    modules["critic"].bias.requires_grad_(False)
    stray = nn.Parameter(torch.ones(5))
    policy, critic = list(modules["policy"].parameters()), list(modules["critic"].parameters())
    audit = audit_parameters(modules, {"one": [policy[0], critic[0]], "two": [policy[0], stray]}, names_of(modules))
    assert audit["twice"] == ["policy.weight"]
    assert audit["twice_owners"] == ["one", "two"]
    assert audit["foreign"] == 5
    assert audit["shared"] == 0
    assert audit["modules"]["policy"]["unowned"] == ["policy.bias"]
    assert audit["modules"]["policy"]["unowned_numel"] == 2
    assert audit["modules"]["policy"]["owners"] == {"one": 6, "two": 6}
    assert audit["modules"]["critic"]["frozen"] == ["critic.bias"]
    assert audit["modules"]["critic"]["unowned"] == []


def test_the_fingerprint_of_what_nobody_owns_moves_when_somebody_trains_it():
    modules = {"policy": nn.Linear(3, 2)}
    first = audit_parameters(modules, {}, names_of(modules))["modules"]["policy"]["unowned_fingerprint"]
    again = audit_parameters(modules, {}, names_of(modules))["modules"]["policy"]["unowned_fingerprint"]
    with torch.no_grad():
        modules["policy"].weight.add_(0.1)
    moved = audit_parameters(modules, {}, names_of(modules))["modules"]["policy"]["unowned_fingerprint"]
    assert first == again != moved


def test_reach_before_and_after_backward():
    modules = {"policy": nn.Linear(3, 2), "critic": nn.Linear(3, 1)}
    x = torch.randn(4, 3)
    losses = {
        "policy": modules["policy"](x).mean(),
        "both": modules["policy"](x).mean() + modules["critic"](x).mean(),
        "number": torch.tensor(1.0),
        "blocked": modules["policy"](x).detach().mean(),
    }
    before = reach_of_losses(losses, modules, names_of(modules))
    assert before["policy"]["policy"] == {"reached": 2, "of": 2, "missing": []}
    assert before["policy"]["critic"] == {"reached": 0, "of": 2, "missing": ["critic.weight", "critic.bias"]}
    assert before["both"]["critic"]["reached"] == 2
    assert set(before) == {"policy", "both"}
    (losses["policy"] + losses["both"]).backward()
    assert reach_of_losses(losses, modules, names_of(modules)) == before, "the graph is still there once it has run"


def test_shapes_as_the_user_has_them():
    given = {"value": torch.ones(4, 1), "target": torch.ones(4).numpy(), "loss": torch.ones(()), "clip": 0.2}
    assert shapes_of(given) == {"value": [4, 1], "target": [4]}
