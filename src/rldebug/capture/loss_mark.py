"""What each node near the loss stands for: a log-prob, a ratio, a squared difference …, told by data flow alone.

Marks are worked out from the leaves up, once per node. A node that is none of the things that are known is an output of
a network ("net"), or a sum of unlike things ("mix") that the walk down from the loss takes apart. The tags:

leaf     a parameter                                net      output of a network
table    log-probs of all actions                   probs    probabilities of all actions
logp     log-prob of the action that was taken      prob     its probability
ratio    exp(log-prob − something), or probability / something
plogp    p·log p, before the sum                    entropy  its sum
soft     log-probs times a distribution             softsum  its sum
square   square of a difference                     abs, huber   likewise
log      log of a scale, or a log-determinant       kl       a divergence
l2       square of a parameter                      penalty  distance of a ratio, an entropy … from something
opaque   anything else that was done to one of these
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rldebug.capture.loss_forms import number_of, over_rows, picks_an_action, picks_in_rows, times_a_mask
from rldebug.capture.loss_nodes import VIEWS, Node, base_name, saved

Clip = tuple[float | None, float | None]
PICKS = 32  # actions of so many dimensions are told apart
_NEAR = 2.0  # logarithm of a ratio up to which it may be clipped


@dataclass
class Mark:
    tag: str
    sign: float = 1.0  # with which sign it stands here
    picks: tuple[tuple[str, Node], ...] = ()  # of a log-prob: (family, node that says which action)
    shifted: bool = False  # data was added
    scaled: bool = False  # of a square: divided by something that is learned
    reparameterised: bool = False  # of a log-prob: the action carries a graph
    inverted: bool = False  # of a ratio: exp(old − new)
    clip: Clip | None = None  # of a ratio
    twice: bool = False  # softmax of a softmax
    inner: Node | None = None  # the first of the two
    zeroed: bool = False  # softmax of scores that were multiplied by a mask of zeros and ones
    across: bool = False  # softmax over the rows of a batch, not over the actions
    averaged: int = 0  # of a log-prob: it is the mean over so many elements of each row, not their sum
    of: Node | None = None  # the node that this mark was first given to

    def but(self, **changes: Any) -> Mark:
        """A copy with changes. (`dataclasses.replace` takes several times as long.)"""
        new: Mark = object.__new__(Mark)
        new.__dict__.update(self.__dict__)
        new.__dict__.update(changes)
        return new


NET, LEAF, MIX = Mark("net"), Mark("leaf"), Mark("mix")
SQUARES = frozenset(("square", "abs", "huber"))


def bottom(node: Node, name: str) -> Mark:
    if name == "AccumulateGrad":
        return LEAF
    if name in ("LogSoftmax", "Softmax"):
        beneath = node.next_functions[0][0]
        while beneath is not None and base_name(beneath) in VIEWS:
            beneath = beneath.next_functions[0][0]
        twice = beneath is not None and base_name(beneath) == "Softmax"
        tag = "table" if name == "LogSoftmax" else "probs"
        inner = beneath if twice else None
        return Mark(tag, of=node, twice=twice, inner=inner, zeroed=times_a_mask(beneath), across=over_rows(node))
    return NET


def moved(node: Node, name: str, first: Mark | None) -> Mark:
    if first is None:
        return NET
    if first.tag not in ("table", "probs") or not picks_an_action(node, name):
        return first
    tag = "logp" if first.tag == "table" else "prob"
    across = first.across and picks_in_rows(node, name)
    picks = (("categorical", node),)
    twice, inner = first.twice, first.inner
    return Mark(tag, first.sign, picks, of=node, twice=twice, inner=inner, zeroed=first.zeroed, across=across)


def negated(node: Node, here: Mark) -> Mark:
    if here.tag in ("net", "leaf", "mix"):
        return here
    if here.tag == "square" and here.shifted and here.sign > 0:
        return gaussian(node, here.but(sign=-1.0), scaled=here.scaled)  # −½·(square + constant)
    return here.but(sign=-here.sign)


def shifted(node: Node, here: Mark) -> Mark:
    """Something with data added to it."""
    if here.tag == "square":
        return gaussian(node, here, scaled=here.scaled) if here.sign < 0 else here.but(shifted=True)
    if here.tag in ("logp", "table", "entropy", "log", "kl", "soft"):
        return here.but(shifted=True)
    if here.tag in ("prob", "probs") and here.sign > 0:
        return here  # log(p + ε)
    if here.tag == "leaf":
        return here
    return NET if here.tag in ("net", "prob", "probs") else MIX


def gaussian(node: Node, square: Mark, *, scaled: bool) -> Mark:
    return square.but(tag="logp", sign=-square.sign, scaled=scaled, of=node)


def same_action(one: Mark, two: Mark) -> bool:
    return {id(node) for _, node in one.picks} == {id(node) for _, node in two.picks}


def listed(kids: list[Mark | None]) -> Mark:
    known = [each for each in kids if each is not None]
    if not known:
        return NET
    first = known[0]
    if any(each.tag != first.tag or each.sign != first.sign for each in known):
        return MIX if {each.tag for each in known} - {"net", "leaf"} else NET
    if first.tag == "logp":
        picks = tuple(pick for each in known[:PICKS] for pick in each.picks)[:PICKS]
        return first.but(picks=picks, reparameterised=any(each.reparameterised for each in known))
    return first


def exponential(node: Node, first: Mark) -> Mark:
    if first.tag == "table":
        return first.but(tag="probs", of=node)
    if first.tag != "logp":
        return LEAF if first.tag == "leaf" else NET
    if first.sign > 0 and not first.shifted and not first.reparameterised:
        return first.but(tag="prob", of=node)
    low, high = (None if each is None else math.exp(each) for each in first.clip or (None, None))
    clip = None if first.clip is None else (low, high)
    return first.but(tag="ratio", sign=1.0, inverted=first.sign < 0, clip=clip, of=node)


def clamped(node: Node, name: str, first: Mark) -> Mark:
    bounds = number_of(saved(node, "min")), number_of(saved(node, "max"))
    if first.tag in ("ratio", "prob"):
        low, high = first.clip or (None, None)  # one bound after the other
        bounds = (low if bounds[0] is None else bounds[0], high if bounds[1] is None else bounds[1])
        return first.but(clip=bounds, of=node)
    if first.tag == "logp" and first.shifted and any(each is not None and abs(each) < _NEAR for each in bounds):
        return first.but(clip=bounds, of=node)  # the logarithm of a ratio; further away it only keeps numbers finite
    return first if first.tag in ("table", "probs", "logp", "square", "leaf", "log") else NET


def one_of(node: Node, name: str, kids: list[Mark | None]) -> Mark:
    known = [each for each in kids if each is not None]
    tags = {each.tag for each in known}
    if len(known) == 1 and name in ("Where", "MaskedFill", "IndexPut"):
        return known[0]
    if len(known) == 1 and known[0].tag == "ratio":
        bound = number_of(saved(node, "self") if kids[0] is None else saved(node, "other"))
        if bound is None:
            return MIX
        low, high = known[0].clip or (None, None)
        return known[0].but(clip=(bound, high) if name == "Maximum" else (low, bound), of=node)
    if name == "Where" and tags & {"square"} and len(known) == 2:
        return Mark("huber", of=node)
    if tags <= {"square", "huber", "abs"} and name in ("Maximum", "Minimum"):
        return Mark("huber", of=node)
    return NET if tags <= {"net", "leaf"} else MIX
