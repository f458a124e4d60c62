"""The edge of a command: standard streams, locale and signals as the machine gives them, and how the process ends.

All else may rely on this: standard input, output and error are there and take any text, what an algorithm prints is not
among the results, and whatever the process leaves running does not keep it from ending.

- A stream that was closed goes nowhere. A standard error that cannot be written, on a full disk or a terminal that has
  gone, costs no result; a reader that has gone ends the command, as everywhere.
- A locale without our characters gets them as ``\\u03b5``, never as a question mark, which is a sign of our own.
- Ctrl-C, SIGTERM and SIGHUP (a terminal closes, a connection drops) end a command alike, what is finished being kept.
  The first of them ends it; those that follow are not heard, so that nothing is lost on the way out.
"""

from __future__ import annotations

import atexit
import ctypes
import faulthandler
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from algorithms.installation import ROOT

if TYPE_CHECKING:
    from typing_extensions import Buffer

PACKAGES = ("algorithms", "datasets", "documents", "dp_replica", "experiments", "hydra_plugins", "plots")
"""Folders of our code, below `ROOT`."""
_STREAMS = {"stdin": 0, "stdout": 1, "stderr": 2}
_ENDING = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
_ESCAPES = "backslashreplace"
"""How text is written that a locale does not have: what is JSON stays JSON."""
_SECONDS_TO_END = 2
_UNWRITTEN = 120  # as Python's own code where a stream cannot be written at the end
_SECONDS_UNTIL_AGAIN = 0.05
_KEPT = "everything finished so far is kept; run the same command again to go on"


class Interrupted(KeyboardInterrupt):
    """A signal that ends a command."""

    def __init__(self, number: int):
        super().__init__(number)
        self.number = number


def run_process(command: Callable[[], None]) -> NoReturn:
    """Run a command as all that this process does, and end with its exit code; 128 and its number after a signal."""
    codes: list[int] = []
    if not atexit._ncallbacks():  # what was registered first is called last: a profiler's, if there is one
        atexit.register(_end_at_once, codes)
    _open_streams()
    _take_any_text()
    _keep_figures_to_files()
    _end_on_signals()
    faulthandler.enable()  # of a crash in this process nobody else could say anything
    code = _run(command)
    if _list_threads():
        threading.Thread(target=_end_without_threads, args=[code], daemon=True).start()
    codes.append(code)
    sys.exit(code)


def _run(command: Callable[[], None]) -> int:
    """Run a command and return its exit code."""
    try:
        command()
    except SystemExit as ended:
        return _read_code(ended)
    except KeyboardInterrupt as ended:
        _ignore_signals()  # for good: while a process ends, Python takes its own handlers away
        with suppress(BrokenPipeError):
            print(_KEPT, file=sys.stderr)
        return 128 + (ended.number if isinstance(ended, Interrupted) else signal.SIGINT)
    except BrokenPipeError:  # the reader of a stream has gone, as in `| head`
        for name in ("stdout", "stderr"):
            os.dup2(os.open(os.devnull, os.O_WRONLY), _STREAMS[name])
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def _read_code(ended: SystemExit) -> int:
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    print(ended.code, file=sys.stderr)
    return 1


def _list_threads() -> list[threading.Thread]:
    """Return the threads that the interpreter waits for when the main one has ended."""
    return [thread for thread in threading.enumerate() if thread is not threading.main_thread() and not thread.daemon]


def _end_without_threads(code: int) -> None:
    """End this process though threads go on that an algorithm has left; those of executors end when they are asked."""
    threading.main_thread().join()
    ends_at = monotonic() + _SECONDS_TO_END
    for thread in _list_threads():
        thread.join(max(ends_at - monotonic(), 0.0))
    if _list_threads():
        atexit._run_exitfuncs()
        os._exit(code)


def _end_at_once(codes: list[int]) -> None:
    """End this process once its code is known; to take apart all that was imported took a fifth of a second.

    Python ends it where it has code of a user, who may have left a file open that is written, or removed, only then.
    """
    if not codes or _has_code_of_users():
        return
    (code,) = codes
    with suppress(AttributeError, OverflowError, ValueError):  # no stream, a closed one, no code: left to Python
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except BrokenPipeError:
            code = code or 1
        except OSError as error:  # it has thrown away what it could not write: Python would find nothing amiss
            print(f"error: standard output cannot be written: {error}", file=sys.stderr)
            code = code or _UNWRITTEN
        os._exit(code)


def _has_code_of_users() -> bool:
    """Return whether a module was imported that is neither ours nor Python's nor of a package that is installed."""
    ours = (sys.prefix, sys.base_prefix, *(str(ROOT / name) for name in PACKAGES))
    known = tuple(os.path.join(folder, "") for folder in ours)
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return not all(file.startswith(known) for file in files if isinstance(file, str))


# Streams.


def _open_streams() -> None:
    """Open what was closed; of a program without a stream Python has none, and the next file would take its number."""
    for name, number in _STREAMS.items():
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - to the end


def _take_any_text() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_ESCAPES)
    sys.stderr.flush()
    notices = io.BufferedWriter(_Notices(_STREAMS["stderr"], "w", closefd=False))
    sys.stderr = io.TextIOWrapper(notices, encoding=sys.stderr.encoding, errors=_ESCAPES, line_buffering=True)


class _Notices(io.FileIO):
    """Standard error: what cannot be written there is lost, and nothing else with it."""

    def write(self, content: Buffer, /) -> int:
        try:
            return super().write(content)
        except BrokenPipeError:
            raise
        except OSError:
            return memoryview(content).nbytes


@contextmanager
def keep_prints_apart() -> Iterator[None]:
    """Let what is printed meanwhile, by Python or by compiled code, go to standard error: it is no result."""
    stdout = sys.stdout
    stdout.flush()
    kept = os.dup(_STREAMS["stdout"])
    os.dup2(_STREAMS["stderr"], _STREAMS["stdout"])
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        stdout.flush()  # an algorithm may have kept it
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, _STREAMS["stdout"])
        os.close(kept)


def print_apart() -> None:
    """Let all that this process will print go to standard error: it is a worker, whose results go another way."""
    os.dup2(_STREAMS["stderr"], _STREAMS["stdout"])
    sys.stdout = sys.stderr


def _keep_figures_to_files() -> None:
    """Let no backend of a notebook, which exports it to whatever it starts, be what matplotlib looks for."""
    os.environ["MPLBACKEND"] = "agg"


# Signals.


def _end_on_signals() -> None:
    """Let signals end the command that whoever started it does not want to be ignored, as `nohup` does of SIGHUP."""
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _hear_again


def _hear_again(dropped: sys.UnraisableHookArgs) -> None:
    """Send a signal again that came in a finalizer, or where a weak reference ends: Python drops what is raised there.

    The command would go on, and hear no other signal.
    """
    if not isinstance(dropped.exc_value, Interrupted):
        sys.__unraisablehook__(dropped)
        return
    number = dropped.exc_value.number
    signal.signal(number, _interrupt)
    threading.Timer(_SECONDS_UNTIL_AGAIN, os.kill, [os.getpid(), number]).start()


def _interrupt(number: int, frame: FrameType | None) -> None:
    for further in _ENDING:
        signal.signal(further, _leave)
    raise Interrupted(number)


def _leave(number: int, frame: FrameType | None) -> None:
    """Do nothing: to Python it is an error if a signal that has come already, and waits, is ignored before its turn."""


def _ignore_signals() -> None:
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)


def leave_signals_to_parent() -> None:
    """Ignore what a terminal sends to all processes of a command: its first decides when this one, a worker, ends."""
    for number in _ENDING:
        signal.signal(number, signal.SIG_DFL if number == signal.SIGTERM else signal.SIG_IGN)


@contextmanager
def start_for_parent() -> Iterator[None]:
    """Start processes meanwhile that end with this one, whatever it ends by, and not when their terminal closes."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING[2:])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
