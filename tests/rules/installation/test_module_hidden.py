from rldebug.rules.installation.module_hidden import ModuleHidden
from tests.judge import quiet
from tests.rules.machines import machine, names


def test_fires_when_a_file_is_called_like_a_module():
    finding = names(ModuleHidden(), machine(hiding=("random.py", "gymnasium/")))
    assert finding.where.file == "/home/me/project/random.py"
    assert "1 more" in finding.message


def test_quiet_when_none_is():
    quiet(ModuleHidden(), machine())
