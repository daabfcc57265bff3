"""What the tests of the Python package share: the model of tests/system/translate, and Pythons of their own."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "translate"))
from translate_support import PATIENCE, PROGRAMS, SOURCE, Case, main, run, translate  # noqa: E402,F401

# Pythons that may have torch, each with why: the tests of both in one process run with the first that fits.
CANDIDATES = [os.environ.get("NMT_INTEROP_PYTHON", ""), sys.executable, str(SOURCE / ".deps/torch/bin/python"), "python3"]


def heed_control_c(case):
    """A process that a shell began in the background ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    case.addCleanup(signal.signal, signal.SIGINT, before)


def moments_of_another_thread(work):
    """When another thread of Python ran while work() did, between the seconds of its beginning and of its end."""
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        began = time.monotonic()
        work()
        ended = time.monotonic()
    finally:
        done.set()
        thread.join()
    return [began, *(moment for moment in ticks if began < moment < ended), ended]


def longest_pause(moments):
    return max(after - before for before, after in zip(moments, moments[1:]))


def python(code, *arguments, interpreter=sys.executable, timeout=PATIENCE, environment=None):
    """Runs a program of Python, whose text may be indented, in a process of its own."""
    return subprocess.run([interpreter, "-B", "-c", textwrap.dedent(code), *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, cwd="/",
                          env=None if environment is None else {**os.environ, **environment})


def python_with_torch():
    """One of the version of this one, with the torch that the package was built for; None where there is none."""
    from nmt._build import TORCH_VERSION
    look = "import sys, torch; print(sys.version_info[:2], torch.__version__.split('+')[0])"
    wanted = f"{sys.version_info[:2]} {TORCH_VERSION.split('+')[0]}"
    for candidate in filter(None, CANDIDATES):
        try:
            done = subprocess.run([candidate, "-c", look], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"})
        except OSError:
            continue
        if done.stdout.strip() == wanted:
            return candidate
    return None
