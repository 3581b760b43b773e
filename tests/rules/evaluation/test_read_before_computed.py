from rldebug.rules.evaluation.read_before_computed import ReadBeforeComputed
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_the_update_has_not_run():
    def program():
        for step in range(2):
            if step > 5:
                loss = 1.0
            print(loss)

    names(ReadBeforeComputed(), crashed(program))


def test_quiet_when_a_name_is_misspelt():
    def program():
        return loss  # noqa: F821

    quiet(ReadBeforeComputed(), crashed(program))


def test_quiet_when_it_is_set_later_in_the_same_loop():
    def program():
        while True:
            print(loss)  # noqa: F821
            loss = 1.0  # noqa: F841

    quiet(ReadBeforeComputed(), crashed(program))
