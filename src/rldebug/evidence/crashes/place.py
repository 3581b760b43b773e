"""Which part of a training was at work when it crashed: by what was being called, else by which tensors met."""

from __future__ import annotations

from typing import Any

from rldebug.evidence.crash import Crash, Frame
from rldebug.evidence.crashes.facts import Fact
from rldebug.rule import Rule

# From the first that fits: the narrow before the wide.
_LIBRARY: tuple[tuple[str, str], ...] = (
    ("torch.distributed", "multiprocess"),
    ("torch.multiprocessing", "multiprocess"),
    ("multiprocessing", "multiprocess"),
    ("concurrent.futures", "multiprocess"),
    ("torch.distributions", "action-sampling"),
    ("torch.optim", "optimizer"),
    ("torch.nn.utils.clip_grad", "optimizer"),
    ("torch.amp", "optimizer"),
    ("torch.autograd", "autograd-graph"),
    ("torch.serialization", "checkpoint"),
    ("pickle", "checkpoint"),
    ("torch.utils.data", "buffer"),
    ("torch.utils.tensorboard", "evaluation"),
    ("stable_baselines3.common.buffers", "buffer"),
    ("stable_baselines3.common.vec_env", "environment"),
    ("stable_baselines3.common.monitor", "environment"),
    ("stable_baselines3.common.env_checker", "environment"),
    ("stable_baselines3.common.env_util", "environment"),
    ("stable_baselines3.common.distributions", "action-sampling"),
    ("stable_baselines3.common.preprocessing", "preprocessing"),
    ("stable_baselines3.common.save_util", "checkpoint"),
    ("stable_baselines3.common.callbacks", "evaluation"),
    ("stable_baselines3.common.evaluation", "evaluation"),
    ("torchrl.data.replay_buffers", "buffer"),
    ("torchrl.envs", "environment"),
    ("tianshou.data", "buffer"),
    ("tianshou.env", "environment"),
    ("cv2", "preprocessing"),
    ("PIL", "preprocessing"),
    ("torchvision.transforms", "preprocessing"),
    ("gymnasium", "environment"),
    ("gym", "environment"),
    ("pettingzoo", "environment"),
    ("ale_py", "environment"),
    ("wandb", "evaluation"),
    ("tensorboard", "evaluation"),
    ("matplotlib", "evaluation"),
    ("csv", "evaluation"),
)
_REGRESSIONS = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")
_CLASSIFIERS = ("cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div")

REGRESSION_NODES = frozenset({"MseLoss", "SmoothL1Loss", "HuberLoss", "Pow", "L1Loss"})
LOGP_NODES = frozenset({"LogSoftmax", "Softmax", "NllLoss", "Exp", "Log", "Logsumexp", "ClampMin"})


def place(crash: Crash) -> str:
    """The component that was at work; `installation` before anything has begun, `evaluation` for the work around."""
    passed = False  # the user's innermost frame
    for frame in reversed(crash.frames):
        passed = passed or frame.own
        told = _by_call(crash, frame)
        # Further out these only started what failed: every worker process is a function of multiprocessing.
        if told and not (passed and told in ("multiprocess", "checkpoint", "buffer") and not frame.own):
            return told
    return _by_tensors(crash) or ("evaluation" if _under_way(crash) else "installation")


def _under_way(crash: Crash) -> bool:
    """Whether something was trained by then; where nobody has counted, whether there is something to train."""
    if crash.updates is None and crash.env_steps is None:
        return any(crash.held("network", "optimizer"))
    return bool(crash.env_steps or crash.updates)


def _by_call(crash: Crash, frame: Frame) -> str:
    if frame.module == "torch._tensor":
        return {"backward": "autograd-graph", "__deepcopy__": "autograd-graph"}.get(frame.function, "")
    if frame.module == "torch.nn.functional":
        if frame.function in _REGRESSIONS:
            return "value-loss"
        return "policy-loss" if frame.function in _CLASSIFIERS else ""
    if frame.module == "torch.nn.modules.loss":
        return "value-loss"
    if frame.module.startswith("torch.nn.modules"):
        if "state_dict" in frame.function:
            return "checkpoint"
        return "" if frame.function not in ("forward", "_call_impl") else _network(crash)
    if frame.own:
        return _by_owner(crash, frame)
    for prefix, component in _LIBRARY:
        if frame.module == prefix or frame.module.startswith(f"{prefix}."):
            return component
    return ""


def _network(crash: Crash) -> str:
    return "preprocessing" if crash.layer and crash.layer["first"] else "network"


def _by_owner(crash: Crash, frame: Frame) -> str:
    if frame.owner == "environment":
        seen = frame.function == "observation" or "ObservationWrapper" in frame.bases
        return "preprocessing" if seen else "environment"
    if frame.owner == "network":
        # Many an agent is a module too: only what runs inside a call of it is the network's work.
        return "network" if frame.function == "forward" else ""
    return {"buffer": "buffer", "optimizer": "optimizer", "distribution": "action-sampling"}.get(frame.owner, "")


def _by_tensors(crash: Crash) -> str:
    """No part of a library and no method tells: by what the values in the failing expression are."""
    operands = crash.operands()
    for fact in operands.values():
        kind = role(fact)
        if kind:
            return kind
    if any(_holds_rows(each) for each in operands.values()):
        return "buffer"
    shaped = [each for each in operands.values() if each["kind"] in ("tensor", "array") and len(each["shape"])]
    if any(each.get("grad") for each in shaped):
        return "value-loss"
    if len(shaped) > 1:
        # Arithmetic on data: returns, targets, advantages. Which of them shows what the program learns by.
        return "advantage" if _weighs_log_probs(crash) else "discounting"
    if shaped and (
        crash.is_a("IndexError") or crash.says("is invalid for input of size|cannot reshape|view size is not")
    ):
        return "buffer"
    if any(each["kind"] in ("environment", "space") for each in operands.values()):
        return "environment"
    return ""


def role(fact: Fact) -> str:
    """policy-loss or value-loss, where the graph behind a tensor shows it."""
    ops = set(fact.get("ops", ()))
    if ops & REGRESSION_NODES - {"Pow"}:
        return "value-loss"
    if ops & {"LogSoftmax", "NllLoss", "Gather"} and ops & LOGP_NODES:
        return "policy-loss"
    if "Pow" in ops:
        return "policy-loss" if ops & {"Log", "Exp"} else "value-loss"  # the log-density of a Gaussian has both
    return ""


def regression(crash: Crash) -> bool:
    """Whether what backward() was called on was computed by a regression."""
    called = [fact for frame in crash.frames if frame.module == "torch._tensor" for fact in frame.facts.values()]
    return any(role(fact) == "value-loss" for fact in (*crash.operands().values(), *called))


def _holds_rows(fact: Fact) -> bool:
    items: list[dict[str, Any]] = fact.get("items", [])
    if fact["kind"] == "buffer":
        return True
    return fact["kind"] == "collection" and (
        fact["type"] == "deque"
        or any(each.get("type") in ("tuple", "dict") or each.get("kind") in ("tensor", "array") for each in items)
    )


def _weighs_log_probs(crash: Crash) -> bool:
    return any(role(fact) == "policy-loss" for _, _, fact in crash.held("tensor"))


def unexplained(crash: Crash, component: str) -> bool:
    """Whether this component was at work, and no rule knows what happened: then the place is all that can be told."""
    if crash.warning:
        return False  # the program went on
    return place(crash) == component and not any(_explains(rule, crash) for rule in Rule.__subclasses__())


def is_last_resort(code: str) -> bool:
    """Whether a rule of that code tells the place alone."""
    resorts = [each for each in Rule.__subclasses__() if getattr(each, "last_resort", False)]
    return code in {each.code for each in resorts}


def _explains(rule: type[Rule], crash: Crash) -> bool:
    if rule.reads != "Crash" or getattr(rule, "last_resort", False):
        return False
    try:
        return rule().concerns(crash)
    except Exception:  # a rule that is broken explains nothing; it is listed where it is asked itself
        return False
