"""The statements that draw an action, step the environment, store what it gave and draw from what was stored."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from rldebug.finding import Finding
from rldebug.forensics.program_text import FUNCTION, SPAN, Text, begin, end, last, last_name, statements
from rldebug.syntax.across import Value, run_by
from rldebug.syntax.names import library, method, receiver, resolved
from rldebug.syntax.places import Function
from rldebug.syntax.quantities import Walk, is_network, stepped, stored, walk

_DRAWS = frozenset({"sample", "rsample", "multinomial", "normal", "randn", "randn_like", "standard_normal"})
_PICKS = frozenset({"randint", "randperm", "permutation", "choice", "choices", "integers", "sample", "multinomial"})
_CASTS = frozenset(
    {"exp", "log", "float", "long", "to", "cpu", "cuda", "numpy", "item", "tolist", "detach", "squeeze", "unsqueeze"}
)
_CHOICES = frozenset({"argmax", "argmin"})
_RANDOM = frozenset({"random", "rand", "uniform", "random_sample"})


def rows(text: Text, finding: Finding) -> Sequence[ast.AST]:
    labels = ("reward", "end", "observation")
    return list(dict.fromkeys(each for label in labels for each in stored(text.learned, label)))


def acted(text: Text, finding: Finding) -> Sequence[ast.AST]:
    return stepped(text.learned)


def drawn(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """The function that draws, or takes the best; where it does much else, the statement."""
    return _at_draws(text, list(draws_in(text.acting)) or list(_draws_in(text.acting, _CHOICES)))


def sampled(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """The same, of what a network's answer is the distribution of."""
    return _at_draws(text, [each for each in draws_in(text.acting) if "network" in text.acting.of(each)])


def _at_draws(text: Text, draws: Sequence[ast.Call]) -> Sequence[ast.AST]:
    around = {text.acting.scope(each) for each in draws}
    playing = {text.acting.scope(each) for each in text.program.steps}
    if len(around) == 1 and isinstance(function := around.pop(), Function) and function not in playing:
        return [function] if end(function) - begin(function) < FUNCTION else statements(text.acting, draws)
    return statements(text.acting, draws)


def scores(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """What chances are made of: the last that is computed before a distribution, or a draw by chances."""
    chances = [_chances(each) for each in draws_in(text.acting)]
    return statements(text.acting, [first_computed(text.acting, each) for each in chances if each is not None])


def _chances(call: ast.Call) -> ast.expr | None:
    """What a draw goes by: the distribution, or what multinomial() is given."""
    if method(call) in ("sample", "rsample"):
        return receiver(call)
    return call.args[0] if call.args else None


def draws_in(walked: Walk) -> Iterator[ast.Call]:
    """Where numbers of a distribution are drawn; not any action of a space."""
    return _draws_in(walked, _DRAWS)


def _draws_in(walked: Walk, names: frozenset[str]) -> Iterator[ast.Call]:
    for each in walked.made_of:
        node = each.node
        if not isinstance(node, ast.Call) or last(node) not in names or run_by(walked.program, node):
            continue
        if not last_name(receiver(node)).endswith("space"):
            yield node


def first_computed(walked: Walk, node: ast.expr) -> ast.expr:
    """What a name stands for, through functions of the program, casts and distributions: the first that computes."""
    value = Value(node)
    for _ in range(4 * SPAN):
        parts = walked.made_of.get(value, [])
        call = value.node if isinstance(value.node, ast.Call) else None
        if call is not None and not run_by(walked.program, call):
            distributed = library(walked.program.home[call], call).startswith("torch.distributions.")
            if not distributed and method(call) not in _CASTS:
                break
            parts = [each for each in parts if not _is_module(walked, each.node)][:1]
            if distributed and parts and _is_answer(walked, parts[0]):
                break
        elif not isinstance(value.node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
            break
        if len(parts) != 1:
            break
        value = parts[0]
    return value.node


def _is_module(walked: Walk, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and bool(resolved(walked.program.home[node], node))


def _is_answer(walked: Walk, value: Value) -> bool:
    """Whether a value is what a network gave, as it is."""
    for _ in range(SPAN):
        if is_network(walked.program, value.node):
            return True
        parts = walked.made_of.get(value, [])
        if len(parts) != 1 or not isinstance(value.node, ast.Name | ast.Attribute | ast.Subscript):
            return False
        value = parts[0]
    return False


def indices(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where rows of a memory or of a rollout are drawn."""
    cut = [each.node.slice for each in text.learned.made_of if isinstance(each.node, ast.Subscript)]
    cut += [each.node for each in text.learned.made_of if last(each.node) in _PICKS]
    walked = walk(text.program, cut)
    return statements(walked, _draws_in(walked, _PICKS))


def clipped(text: Text, finding: Finding) -> Sequence[ast.AST]:
    played = {text.learned.scope(each) for each in stepped(text.learned)}
    clips = [each.node for each in text.learned.made_of if last(each.node) in ("clip", "clamp", "clip_", "clamp_")]
    return statements(text.learned, [each for each in clips if text.learned.scope(each) in played])


def statistics(text: Text, finding: Finding) -> Sequence[ast.AST]:
    """Where moments of observations are taken."""
    walked = text.learned
    taken = [each.node for each in walked.made_of if last(each.node) in ("mean", "var", "std")]
    return statements(walked, [each for each in taken if "observation" in walked.of(each)])


def threshold(text: Text, finding: Finding) -> Sequence[ast.AST]:
    compared = [each for source in text.sources for each in ast.walk(source.tree) if _is_draw_compared(each)]
    if len(compared) != 1:
        return []
    compare = compared[0]
    assert isinstance(compare, ast.Compare)
    limit = compare.comparators[0] if _draws(compare.left) else compare.left
    walked = walk(text.program, [limit])
    made = [each.node for each in walked.made_of if isinstance(each.node, ast.BinOp | ast.Call)]
    changed = [each for each in made if isinstance(each, ast.BinOp) or not run_by(text.program, each)]
    return statements(walked, changed) or statements(walked, [limit])


def _is_draw_compared(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Compare)
        and len(node.comparators) == 1
        and (_draws(node.left) or _draws(node.comparators[0]))
    )


def _draws(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) and last(each) in _RANDOM for each in ast.walk(node))
