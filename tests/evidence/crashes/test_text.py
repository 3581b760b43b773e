"""Tracebacks as they are pasted: each form leads to the same error, at the same line."""

from __future__ import annotations

import pytest

from rldebug.evidence.crash import crash_from_text, crash_of, crashes_from_text
from rldebug.evidence.crashes.origin import is_own, module_of

MESSAGE = "mat1 and mat2 shapes cannot be multiplied (2x4 and 3x2)"
PLAIN = f"""Traceback (most recent call last):
  File "/home/me/train.py", line 7, in <module>
    act(torch.zeros(2, 4))
  File "/home/me/train.py", line 6, in act
    return net(obs)
           ^^^^^^^^
  File "/venv/lib/python3.12/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: {MESSAGE}
"""
JUPYTER = f"""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[3], line 4
      2 import torch
      3 net = nn.Linear(3, 2)
----> 4 act(torch.zeros(2, 4))

Cell In[2], line 6, in act(obs)
      5 def act(obs):
----> 6     return net(obs)

File /venv/lib/python3.12/site-packages/torch/nn/modules/linear.py:134, in Linear.forward(self, input)
    133 def forward(self, input: Tensor) -> Tensor:
--> 134     return F.linear(input, self.weight, self.bias)

RuntimeError: {MESSAGE}
"""
OLD_JUPYTER = f"""---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
<ipython-input-3-0a1b2c3d4e5f> in <module>
      3 net = nn.Linear(3, 2)
----> 4 act(torch.zeros(2, 4))

<ipython-input-2-0a1b2c3d4e5f> in act(obs)
      5 def act(obs):
----> 6     return net(obs)

~/venv/lib/python3.8/site-packages/torch/nn/modules/linear.py in forward(self, input)
     92     def forward(self, input: Tensor) -> Tensor:
---> 93         return F.linear(input, self.weight, self.bias)

RuntimeError: {MESSAGE}
"""
PYTEST = f"""=================================== FAILURES ===================================
___________________________________ test_it ____________________________________

    def test_it():
        net = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
>       act(net, torch.zeros(2, 4))

test_train.py:8:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def act(net, obs):
>       return net(obs)

test_train.py:6:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def forward(self, input: Tensor) -> Tensor:
>       return F.linear(input, self.weight, self.bias)
E       RuntimeError: {MESSAGE}

/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:134: RuntimeError
=========================== short test summary info ============================
FAILED test_train.py::test_it - RuntimeError: mat1 and mat2 shapes cannot be ...
"""
PYTEST_SHORT = f"""___________________________________ test_it ____________________________________
test_train.py:8: in test_it
    act(net, torch.zeros(2, 4))
test_train.py:6: in act
    return net(obs)
/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:134: in forward
    return F.linear(input, self.weight, self.bias)
E   RuntimeError: {MESSAGE}
"""


def coloured(text):
    return "\n".join(f"\x1b[31m{line}\x1b[0m" for line in text.splitlines())


def before_each(text, *words):
    return "".join(f"{words[place % len(words)]}{line}\n" for place, line in enumerate(text.splitlines()))


FORMS = {
    "plain": PLAIN,
    "colours": coloured(PLAIN),
    "windows line ends": PLAIN.replace("\n", "\r\n"),
    "indented": before_each(PLAIN, "    "),
    "quoted": before_each(PLAIN, "> "),
    "torchrun": before_each(PLAIN, "[rank0]: "),
    "slurm": before_each(PLAIN, "0: "),
    "ray": before_each(PLAIN, "(Worker pid=4711, ip=10.0.0.1) "),
    "docker": before_each(PLAIN, "trainer-1  | "),
    "clock": before_each(PLAIN, "2024-05-06 07:08:09,123 ", "2024-05-06T07:08:10.4Z "),
    "logger": before_each(PLAIN, "2024-05-06 07:08:09 ERROR train: "),
    "after a log": f"epoch 1 return 20.5\nERROR:root:it failed\n{PLAIN}",
    "progress bar": f"  0%|          | 0/100 [00:00<?, ?it/s]{PLAIN}",
    "progress bar drawn over": f"  1%|▏         | 1/100\r  2%|▎         | 2/100\r{PLAIN}",
    "our own note": f"{PLAIN}\nrldebug: error[PRE401] the network was fed another width\n  where     train.py:6\n",
    "jupyter": JUPYTER,
    "jupyter in colours": coloured(JUPYTER),
    "old jupyter": OLD_JUPYTER,
    "pytest": PYTEST,
    "pytest, short": PYTEST_SHORT,
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_every_form_tells_the_same(text):
    (crash,) = crashes_from_text(text)
    assert (crash.type, crash.message) == ("RuntimeError", MESSAGE)
    assert crash.is_a("Exception")
    assert (crash.at.line, crash.at.function, crash.at.source) == (6, "act", "return net(obs)")
    assert crash.last.module == "torch.nn.modules.linear"
    assert not crash.warning


# ── several tracebacks ──────────────────────────────────────────────────────────────────────────────────────────────


def trace(kind, *levels, header="Traceback (most recent call last):"):
    lines = [f'  File "{file}", line {line}, in f\n    x()' for file, line in levels]
    return "\n".join([header, *lines, kind]) + "\n"


OWN, LIBRARY = ("/home/me/train.py", 3), ("/venv/lib/python3.12/site-packages/gymnasium/core.py", 9)
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"


def test_what_only_wraps_another_in_the_users_code_is_looked_through():
    wrapped = trace("KeyError: 'a'", OWN) + CAUSE + trace("RuntimeError: training failed", OWN)
    crash = crash_from_text(wrapped)
    assert crash.said == "KeyError: 'a'"
    assert crash.chain == (("RuntimeError", "training failed"),)
    by_a_library = trace("KeyError: 'a'", OWN) + CAUSE + trace("RuntimeError: in other words", OWN, LIBRARY)
    assert crash_from_text(by_a_library).said == "RuntimeError: in other words"


def test_what_happens_while_another_is_handled_is_the_one_that_counts():
    assert crash_from_text(trace("KeyError: 'a'", OWN) + CONTEXT + trace("IndexError: x", OWN)).type == "IndexError"


def test_what_is_raised_while_another_is_handled_only_wraps_it():
    on_purpose = trace("SystemError: the trial is over", OWN).replace("x()", 'raise SystemError("the trial is over")')
    crash = crash_from_text(trace("IndexError: pop from an empty deque", OWN) + CONTEXT + on_purpose)
    assert crash.said == "IndexError: pop from an empty deque"
    assert crash.chain == (("SystemError", "the trial is over"),)


def wrapped(error):
    try:
        {}["seed"]
    except KeyError:
        if error:
            raise OSError("cannot go on")  # noqa: B904
        [].pop()


def test_live_it_is_the_same():
    with pytest.raises(OSError) as told:  # noqa: PT011
        wrapped(True)
    assert crash_of(told.value).said == "KeyError: 'seed'"
    with pytest.raises(IndexError) as told:
        wrapped(False)
    assert crash_of(told.value).type == "IndexError"


WORKERS = {
    "pool": 'multiprocessing.pool.RemoteTraceback: \n"""\n'
    + trace("ValueError: the real one", ("/home/me/env.py", 5))
    + '"""\n'
    + CAUSE
    + trace("ValueError: the real one", OWN, ("/usr/lib/python3.12/multiprocessing/pool.py", 774)),
    "process": "Process ForkProcess-1:\n"
    + trace("ValueError: the real one", ("/usr/lib/python3.12/multiprocessing/process.py", 314), ("/home/me/env.py", 5))
    + trace("EOFError", OWN, ("/usr/lib/python3.12/multiprocessing/connection.py", 399)),
    "loader": trace("ValueError: Caught ValueError in DataLoader worker process 0.", OWN, LIBRARY)
    + trace("ValueError: the real one", ("/home/me/env.py", 5), header="Original Traceback (most recent call last):"),
    "spawn": trace("torch.multiprocessing.spawn.ProcessRaisedException: ", OWN, LIBRARY)
    + "\n-- Process 1 terminated with the following error:\n"
    + trace("ValueError: the real one", ("/home/me/env.py", 5)),
    "ray": trace("ray.exceptions.RayTaskError(ValueError): \x1b[36mray::f()\x1b[39m (pid=1, ip=10.0.0.1)", OWN, LIBRARY)
    + '  File "/home/me/env.py", line 5, in f\n    x()\nValueError: the real one\n',
    "ranks": "".join(
        f"[rank1]: {one}\n[rank0]: {two}\n"
        for one, two in zip(
            trace("ValueError: the real one", OWN, ("/home/me/env.py", 5)).splitlines(),
            trace("torch.distributed.DistBackendError: NCCL", OWN, LIBRARY).splitlines(),
            strict=True,
        )
    ),
}


@pytest.mark.parametrize("text", WORKERS.values(), ids=WORKERS)
def test_the_error_of_a_worker_comes_first(text):
    crash = crash_from_text(text)
    assert (crash.type, crash.message) == ("ValueError", "the real one")
    assert crash.at.file == "/home/me/env.py"
    assert crash.chain


# ── less than a traceback ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_last_line_will_do():
    (crash,) = crashes_from_text(f"epoch 3\nRuntimeError: {MESSAGE}\n")
    assert (crash.said, crash.frames) == (f"RuntimeError: {MESSAGE}", ())
    (crash,) = crashes_from_text("[rank3]: gymnasium.error.ResetNeeded: Cannot call env.step() before reset")
    assert crash.is_a("ResetNeeded")


def test_a_message_may_have_many_lines():
    text = trace(
        'RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s): "a".\n\n\tsize mismatch', OWN
    )
    assert crash_from_text(text).message.endswith('Missing key(s): "a".\n\n\tsize mismatch')


def test_a_syntax_error_has_no_first_line():
    (crash,) = crashes_from_text(
        '  File "/home/me/train.py", line 2\n    def f(:\n          ^\nSyntaxError: invalid syntax\n'
    )
    assert (crash.type, crash.at.line, crash.at.source) == ("SyntaxError", 2, "def f(:")


def test_warnings_are_read():
    text = "/home/me/a.py:4: UserWarning: careful\n  b = f(a)\nepoch 1\n/home/me/a.py:9: FutureWarning: soon\n"
    first, second = crashes_from_text(text)
    assert (first.type, first.message, first.at.line, first.at.source) == ("UserWarning", "careful", 4, "b = f(a)")
    assert (second.type, second.warning) == ("FutureWarning", True)


@pytest.mark.parametrize("text", ["", "hello", "loss: 0.3\nreturn: 12", "{'a': 1}", "\x00\x01", "Traceback (most"])
def test_anything_else_is_nothing(text):
    assert crashes_from_text(text) == ()


def test_libraries_are_known_by_their_place_on_any_machine():
    for file in (
        "/usr/lib/python3.10/multiprocessing/process.py",
        r"C:\Users\me\AppData\Local\Programs\Python\Python311\Lib\multiprocessing\process.py",
        r"C:\venv\Lib\site-packages\multiprocessing\process.py",
    ):
        assert not is_own(file, module_of(file))
        assert module_of(file) == "multiprocessing.process"
    assert is_own("/home/me/lib/train.py", module_of("/home/me/lib/train.py"))
