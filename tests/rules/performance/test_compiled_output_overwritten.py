from rldebug.rules.performance.compiled_output_overwritten import CompiledOutputOverwritten
from tests.judge import quiet
from tests.rules.crashes import crashed, names, saying


def test_fires_when_an_output_was_overwritten():
    names(
        CompiledOutputOverwritten(),
        crashed(
            saying(
                RuntimeError(
                    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run."
                )
            )
        ),
    )


def test_quiet_when_a_tensor_was_changed_in_place():
    quiet(
        CompiledOutputOverwritten(),
        crashed(
            saying(
                RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace operation"
                )
            )
        ),
    )
