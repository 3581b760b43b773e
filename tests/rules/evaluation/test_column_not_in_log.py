import csv
import io

from rldebug.rules.evaluation.column_not_in_log import ColumnNotInLog
from tests.judge import quiet
from tests.rules.crashes import crashed, names


def test_fires_when_a_column_is_new():
    def program():
        csv.DictWriter(io.StringIO(), ["a"]).writerow({"b": 1})

    names(ColumnNotInLog(), crashed(program))


def test_quiet_when_a_key_is_missing():
    def program():
        return {"a": 1}["b"]

    quiet(ColumnNotInLog(), crashed(program))
