import torch

from rldebug.evidence.tensors import COLUMNS, by_module, listed, tensor_histories
from rldebug.metrics.step import PARAMETER_COLUMNS, parameters
from rldebug.rollout import Step
from tests.rules.detailed import detailed, row


def test_the_columns_are_those_of_the_table():
    assert COLUMNS == PARAMETER_COLUMNS


def test_histories_hold_what_the_table_recorded():
    before = torch.randn(6, 4)
    step = Step("optimizer", ("policy.0.weight",), [before], [before + 0.1], [torch.ones(6, 4)], 0.1)
    names, cells = parameters(step)
    run = detailed([{"parameters": dict(zip(names, cells.tolist(), strict=True))}] * 3)
    (tensor,) = tensor_histories(run)
    assert (tensor.module, tensor.layer, len(tensor), tensor.span) == ("policy", "policy.0", 3, 2)
    assert tensor["grad_absmax"].tolist() == [1.0] * 3
    assert round(tensor.size) == 24
    assert tensor.still


def test_a_weight_that_changes_is_not_still():
    tables = [{"parameters@a": {"policy.w": row(norm=8.0 + i)}} for i in range(3)]
    (tensor,) = tensor_histories(detailed(tables))
    assert tensor.optimizer == "a"
    assert not tensor.still
    assert tensor.last(1).still


def test_parameters_of_no_watched_module_are_left_out_of_the_groups():
    tables = [{"parameters": {"policy.w": row(), "critic.w": row(), "optimizer[2]": row()}}]
    assert list(by_module(tensor_histories(detailed(tables)))) == [("", "policy"), ("", "critic")]


def test_long_lists_are_cut_short():
    assert listed("abc") == "a, b, c"
    assert listed("abcde") == "a, b, c and 2 more"
