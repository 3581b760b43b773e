from rldebug.rules.multiprocess.cuda_in_forked_worker import CudaInForkedWorker
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_forked_worker_begins_to_use_cuda():
    names(
        CudaInForkedWorker(),
        crashed(
            saying(RuntimeError("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, …"))
        ),
    )


def test_quiet_when_the_gpu_is_full():
    quiet(CudaInForkedWorker(), crashed(saying(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."))))
