import pickle

from rldebug.rules.checkpoint.checkpoint_of_missing_class import CheckpointOfMissingClass
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_class_was_renamed():
    assert "Policy" in names(CheckpointOfMissingClass(), crashed(lambda: pickle.loads(b"cpickle\nPolicy\n."))).message


def test_fires_when_the_file_of_the_class_is_gone():
    names(CheckpointOfMissingClass(), crashed(lambda: pickle.loads(b"cno_such_file\nPolicy\n.")))


def test_quiet_when_a_package_is_imported_that_is_not_there():
    def program():
        import no_such_package  # noqa: F401

    quiet(CheckpointOfMissingClass(), crashed(program))
