"""A test in a process of its own. Some libraries leave threads behind for good; and where a program has several, its
living objects are not looked at: tests that come later in the same process would see less."""

import functools
import os
import traceback

import pytest


def apart(test):
    @functools.wraps(test)
    def run(*args, **kwargs):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                test(*args, **kwargs)
            except BaseException:
                os.write(writing, traceback.format_exc().encode()[-60_000:])
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            said = b"".join(iter(lambda: file.read(4096), b"")).decode()
        os.waitpid(child, 0)
        if said:
            pytest.fail(said, pytrace=False)

    return run
