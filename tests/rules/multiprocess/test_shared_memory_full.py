from rldebug.rules.multiprocess.shared_memory_full import SharedMemoryFull
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_a_tensor_finds_no_room():
    names(
        SharedMemoryFull(),
        crashed(saying(RuntimeError("unable to write to file </torch_1_2_0>: No space left on device (28)"))),
    )


def test_fires_when_a_worker_dies_of_it():
    names(
        SharedMemoryFull(),
        crashed(
            saying(
                RuntimeError(
                    "DataLoader worker (pid 3) is killed by signal: Bus error. Its workers may be out of shared memory."
                )
            )
        ),
    )


def test_quiet_when_the_disk_is_full():
    quiet(SharedMemoryFull(), crashed(saying(OSError(28, "No space left on device", "checkpoint.pt"))))
