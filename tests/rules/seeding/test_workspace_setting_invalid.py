import pytest

from rldebug.rules.seeding.workspace_setting_invalid import WorkspaceSettingInvalid
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_the_colon_is_missing():
    finding = names(WorkspaceSettingInvalid(), machine(variables={"CUBLAS_WORKSPACE_CONFIG": "4096:8"}))
    assert finding.severity == "warning"


def test_fires_as_a_note_when_it_was_chosen_for_speed():
    finding = names(WorkspaceSettingInvalid(), machine(variables={"CUBLAS_WORKSPACE_CONFIG": ":4096:2:16:8"}))
    assert finding.severity == "note"


@pytest.mark.parametrize(
    "variables", [{}, {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}, {"CUBLAS_WORKSPACE_CONFIG": ":16:8"}]
)
def test_quiet_when_it_is_right_or_not_set(variables):
    quiet(WorkspaceSettingInvalid(), machine(variables=variables))
