from rldebug.rules.environment.wrapper_asks_itself import WrapperAsksItself
from tests.judge import quiet
from tests.rules.crashes import crashed, names


class Wrapper:
    def __getattr__(self, name):
        return getattr(self.env, name)


def test_fires_when_a_wrapper_has_no_environment():
    def program():
        return Wrapper().env

    names(WrapperAsksItself(), crashed(program))


def test_quiet_when_a_search_goes_too_deep():
    def program():
        def search(depth):
            return search(depth + 1)

        search(0)

    quiet(WrapperAsksItself(), crashed(program))
