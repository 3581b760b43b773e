from rldebug.rules.installation.compiled_part_does_not_load import CompiledPartDoesNotLoad
from tests.judge import quiet
from tests.rules.machines import machine, names, with_packages


def test_fires_when_a_symbol_is_missing():
    said = "built with PyTorch 2.12.0; ImportError: _torchrl.so: undefined symbol: _ZN5torch8autograd"
    finding = names(CompiledPartDoesNotLoad(), machine(extensions={"torchrl": said}, **with_packages(torchrl="0.14.1")))
    assert finding.help.startswith("pip install 'torch==2.12.0'")
    assert "replay buffers with priorities" in finding.help
    assert "torchrl 0.14.1, PyTorch 2.11.0+cu130" in finding.seen


def test_quiet_when_it_loads():
    quiet(CompiledPartDoesNotLoad(), machine(extensions={"torchrl": "", "tensordict": ""}))
