"""One way to end for each first argument. No torch: these are about the process."""

import atexit
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time


class Moody(Exception):
    pass


def inner(what):
    raise Moody(what)


def chained():
    try:
        inner("first")
    except Moody as error:
        raise KeyError("second") from error


def child(queue):
    queue.put((os.getpid() != os.getppid(), __name__, Moody.__module__))


def processes(method):
    context = multiprocessing.get_context(method)
    queue = context.SimpleQueue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    print(queue.get())
    process.join()
    print(process.exitcode)


def terminated_child():
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    process.terminate()
    process.join()
    print(process.exitcode)


def forked(end):
    """A raw fork whose child comes out at the end of the script, or leaves in between."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        end()
        return
    print("child:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def order():
    atexit.register(print, "registered first", flush=True)
    atexit.register(print, "registered last", flush=True)
    threading.Thread(target=lambda: (time.sleep(0.1), print("thread", flush=True))).start()
    print("end of the script", flush=True)


def own_hook(kind, error, trace):
    print("own hook:", kind.__name__, error, trace.tb_frame.f_code.co_name, trace.tb_next.tb_frame.f_code.co_name)


def handle(number, frame):
    print("own handler", number, flush=True)
    sys.exit(9)


def own_handler():
    print(signal.signal(signal.SIGTERM, handle) is signal.SIG_DFL, signal.getsignal(signal.SIGTERM) is handle)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def back_to_default():
    print(signal.signal(signal.SIGTERM, handle))
    print(signal.signal(signal.SIGTERM, signal.SIG_DFL) is handle, signal.getsignal(signal.SIGTERM), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(10)


def kill(number):
    os.kill(os.getpid(), number)
    time.sleep(10)


def deep(depth):
    return 0 if depth == 0 else deep(depth - 1)


def broken_hook(*given):
    inner("in the hook")


def main(way):
    print("way:", way, flush=True)
    if way == "nothing":
        return
    if way == "status":
        sys.exit(int(sys.argv[2]))
    if way == "message":
        sys.exit("a last word")
    if way == "object":
        sys.exit(["a", 1])
    if way == "raise":
        inner("a")
    if way == "chained":
        chained()
    if way == "group" and sys.version_info >= (3, 11):
        raise ExceptionGroup("several", [ValueError(1), Moody(2)])  # noqa: F821
    if way == "interrupt":
        raise KeyboardInterrupt
    if way == "sigint":
        kill(signal.SIGINT)
    if way == "sigterm":
        kill(signal.SIGTERM)
    if way == "sigkill":
        kill(signal.SIGKILL)
    if way == "own-handler":
        own_handler()
    if way == "default-again":
        back_to_default()
    if way == "_exit":
        os._exit(7)
    if way == "exec":
        os.execv(sys.executable, [sys.executable, "-c", "print('another')"])
    if way == "execlp":
        os.execlp("true", "true")
    if way == "no-exec":
        try:
            os.execv("/no/such/program", ["x"])
        except OSError as error:
            print(error)
    if way == "fork":
        processes("fork")
    if way == "spawn":
        processes("spawn")
    if way == "terminated-child":
        terminated_child()
    if way == "forked-through":
        forked(lambda: None)
    if way == "forked-exit":
        forked(lambda: sys.exit(4))
    if way == "forked-raise":
        forked(lambda: inner("in the child"))
    if way == "forked-_exit":
        forked(lambda: os._exit(6))
    if way == "order":
        order()
    if way == "hook":
        sys.excepthook = own_hook
        inner("seen by it")
    if way == "broken-hook":
        sys.excepthook = broken_hook
        inner("seen by it")
    if way == "subprocess":
        print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv)"], capture_output=True).stdout)
    if way == "stdout-gone":
        sys.stdout = None
    if way == "elsewhere":
        os.chdir("/")
        raise Moody("there")


if __name__ == "__main__":
    main(sys.argv[1])
