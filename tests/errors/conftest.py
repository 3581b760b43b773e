"""Programs that compile leave torch in a state in which layers are not looked at: other tests need them seen."""

import sys

import pytest


@pytest.fixture(autouse=True, scope="module")
def _as_if_nothing_had_been_compiled():
    yield
    dynamo = sys.modules.get("torch._dynamo")
    if dynamo is not None:
        dynamo.reset()
