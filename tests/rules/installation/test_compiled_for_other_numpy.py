from rldebug.rules.installation.compiled_for_other_numpy import CompiledForOtherNumpy
from tests.judge import quiet
from tests.rules.machines import machine, names

OLD = "ImportError: numpy.core.multiarray failed to import"


def test_fires_when_a_package_says_so():
    said = "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header"
    finding = names(CompiledForOtherNumpy(), machine(imports={"pandas": said, "cv2": OLD}))
    assert finding.message.startswith("pandas, cv2 were compiled")
    assert "NumPy 2.4.6" in finding.seen


def test_fires_when_torch_takes_no_arrays():
    finding = names(CompiledForOtherNumpy(), machine(torch={"numpy": "RuntimeError: Numpy is not available"}))
    assert finding.message.startswith("torch was compiled")


def test_quiet_when_something_else_is_wrong():
    quiet(CompiledForOtherNumpy(), machine(imports={"cv2": "ImportError: libGL.so.1: cannot open shared object file"}))
