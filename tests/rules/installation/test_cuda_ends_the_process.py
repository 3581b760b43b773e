from rldebug.evidence.machine import Trial
from rldebug.rules.installation.cuda_ends_the_process import CudaEndsTheProcess
from tests.judge import fires, quiet
from tests.rules.machines import machine, names

UNKNOWN = {"available": None, "count": None, "computed": None, "capabilities": ()}
DEATH = Trial("torch", "died", "counting the GPUs", "ended by SIGSEGV")


def test_fires_when_counting_the_gpus_ends_the_process():
    finding = names(CudaEndsTheProcess(), machine(DEATH, torch=UNKNOWN))
    assert "counting the GPUs: ended by SIGSEGV" in finding.seen
    assert "driver 580.159.04 for CUDA up to 13.0" in finding.seen
    assert "CUDA_VISIBLE_DEVICES=-1" in finding.help


def test_fires_when_it_hangs():
    hung = Trial("torch", "hung", "asking whether there is a GPU", "did not end within 30 s")
    assert "never returns" in names(CudaEndsTheProcess(), machine(hung, torch=UNKNOWN)).message


def test_it_says_which_pytorch_to_install_when_the_driver_is_older():
    old = {"version": "560.35.03", "cuda": "12.6"}
    finding = fires(CudaEndsTheProcess(), machine(DEATH, torch=UNKNOWN, driver=old))
    assert finding.help.endswith("https://download.pytorch.org/whl/cu126")


def test_it_suspects_a_path_that_leads_elsewhere():
    finding = fires(
        CudaEndsTheProcess(), machine(DEATH, torch=UNKNOWN, variables={"LD_LIBRARY_PATH": "/opt/cuda-11/lib64"})
    )
    assert finding.help.startswith("unset LD_LIBRARY_PATH")


def test_quiet_when_the_gpu_answers():
    quiet(CudaEndsTheProcess(), machine())


def test_quiet_when_torch_itself_cannot_be_imported():
    quiet(CudaEndsTheProcess(), machine(Trial("torch", "died", "importing torch", "ended by SIGILL"), torch=None))
