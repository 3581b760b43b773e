"""Starts Python programs as `python PROGRAM …` and `python -m MODULE …` do, from a process that has imported torch.

To import it takes longer than the programs that are tested run. Each line on stdin is a job: the folder to run in, and
the words after `python`. Its output goes to files in that folder; its exit status to stdout, on a line.
"""

import json
import os
import runpy
import signal
import sys

import gymnasium  # noqa: F401
import torch  # noqa: F401

LIMIT = 200  # seconds: then the program is killed, and the test says so


def start(folder, words):
    signal.alarm(LIMIT)
    os.chdir(folder)
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if words[0] == "-m":
        sys.argv = ["-m", *words[2:]]
        sys.path[0] = folder
        runpy._run_module_as_main(words[1])
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(words[0])
        runpy.run_path(words[0], run_name="__main__")


def serve():
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if not child:
            return job
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


if __name__ == "__main__":
    job = serve()
    if job is not None:
        start(*job)
