"""Runs our three programs and IREE's: a command line, limits, and what it left behind.

Every program runs in its own process group with a limit of wall-clock time and of memory. Its stderr is read as it
comes and only the tail is kept, so a program that floods it costs nothing. On a timeout the whole group is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import resource
import select
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from conquer.errors import ConquerError, StageFailure

HEAD_BYTES, TAIL_BYTES = 4_096, 16_384  # of stderr: the first error, and what was said last
STDOUT_BYTES = 1 << 24
GIGABYTE = 1 << 30
PROGRAMS = ("conquer-opt", "conquer-eval", "conquer-search")
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)
_groups: set[int] = set()
stopping = threading.Event()  # set by kill_all: nothing is started any more


@dataclass(frozen=True)
class Limits:
    """What one program may use: seconds of wall clock, bytes of address space."""

    seconds: float = 300.0
    memory: int = 16 * GIGABYTE


@dataclass(frozen=True)
class Finished:
    """A program that ended with exit code 0."""

    command: list[str]
    seconds: float
    stdout: str
    stderr: str


def package_folder() -> Path:
    return Path(__file__).resolve().parent


@functools.cache
def find_program(name: str) -> Path:
    """One of our programs: CONQUER_BIN, the installed package, the build folder of a checkout."""
    override = os.environ.get("CONQUER_BIN")
    places = [Path(override)] if override else [package_folder() / "bin", package_folder().parents[2] / "build"]
    for place in places:
        if os.access(place / name, os.X_OK) and (place / name).is_file():
            return place / name
    raise ConquerError(
        f"cannot find the program {name}",
        where=", ".join(str(place) for place in places),
        fix="run scripts/00_setup.sh, or set CONQUER_BIN to the folder that holds it",
    )


def data_folder() -> Path:
    """Profiles and kernel objects, beside conquer-opt."""
    return find_program("conquer-opt").parent / "data"


@functools.cache
def find_iree(name: str) -> Path:
    """A program of the IREE wheels; CONQUER_IREE_COMPILE replaces iree-compile."""
    override = os.environ.get("CONQUER_IREE_COMPILE") if name == "iree-compile" else None
    if override:
        if not os.access(override, os.X_OK):
            raise ConquerError("not an executable file", where=f"CONQUER_IREE_COMPILE={override}")
        return Path(override)
    spec = importlib.util.find_spec("iree.compiler") if importlib.util.find_spec("iree") else None
    for folder in spec.submodule_search_locations or [] if spec else []:
        path = Path(folder) / "_mlir_libs" / name
        if path.is_file():
            return path
    raise ConquerError(f"cannot find {name}", fix="run scripts/00_setup.sh, or pip install iree-base-compiler")


def iree_versions() -> dict[str, str]:
    """Versions of IREE that decide what a module is; a replaced iree-compile counts by its content."""
    versions = {}
    for package in ("iree-base-compiler", "iree-base-runtime"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    if os.environ.get("CONQUER_IREE_COMPILE"):
        versions["iree-compile"] = file_digest(find_iree("iree-compile"))
    return versions


@functools.lru_cache(maxsize=256)
def _digest(path: str, _size: int, _mtime_ns: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file, remembered while size and time stay the same."""
    status = path.stat()
    return _digest(str(path), status.st_size, status.st_mtime_ns)


@functools.cache
def package_digest() -> str:
    """SHA-256 of this package's sources: what stages that Python computes depend on."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _prepare_child(memory: int) -> Callable[[], None]:
    """Runs in the child between fork and exec: memory limit; killed when its parent dies."""

    def prepare() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return prepare


def start(command: list[str], memory: int = 0, cwd: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a program in a process group of its own with pipes on all three streams."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_prepare_child(memory),  # only two system calls, no locks
            cwd=cwd,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ConquerError(f"cannot start: {error}", where=command[0]) from error
    _groups.add(process.pid)
    if stopping.is_set():
        kill_group(process)
        raise StageFailure("the command is ending", where=command[0])
    return process


def wait_exit(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait until a program ends, without collecting it: its group's number stays taken until kill_group."""
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and everything it started, and collect it."""
    if process.pid not in _groups:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _groups.discard(process.pid)


def kill_all() -> None:
    """Kill every program still running, for Ctrl-C and the end of the command; who waits for one collects it."""
    stopping.set()
    for group in list(_groups):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


class Tail:
    """Reads a stream in a thread and keeps its first and last bytes."""

    def __init__(self, stream: IO[bytes], keep: int = TAIL_BYTES) -> None:
        self.head, self.data = b"", b""
        self.dropped = 0  # bytes of the middle that are lost
        self._stream, self._keep = stream, keep
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(ValueError, OSError):
            while chunk := self._stream.read1(65_536):  # type: ignore[attr-defined]
                room = HEAD_BYTES - len(self.head)
                self.head, chunk = self.head + chunk[:room], chunk[room:]
                self.data += chunk
                self.dropped += max(0, len(self.data) - self._keep)
                self.data = self.data[-self._keep :]

    def text(self) -> str:
        self._thread.join(timeout=2.0)
        return (self.head + self.data).decode("utf-8", "replace")


def first_error(stderr: str) -> str:
    """The line of a compiler's output that says what is wrong: its first error, else its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    signs = ("error:", "Unknown command line argument")
    chosen = next((line for line in lines if any(sign in line for sign in signs)), lines[-1] if lines else "no message")
    return chosen if len(chosen) <= 600 else chosen[:600] + " ..."


def describe_exit(code: int) -> str:
    if code < 0:
        return f"was ended by signal {-code} ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"


def run(command: list[str], limits: Limits | None = None, cwd: Path | None = None) -> Finished:
    """Run a program to its end. Raises StageFailure with the first error it printed."""
    limits = limits or Limits()
    begin = time.monotonic()
    process = start(command, limits.memory, cwd)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.close()
    out, err = Tail(process.stdout, STDOUT_BYTES), Tail(process.stderr)
    name = Path(command[0]).name
    try:
        ended = wait_exit(process, limits.seconds)
    finally:
        kill_group(process)  # and whatever it may have left running
    if not ended:
        raise StageFailure(
            f"{name} did not end within {limits.seconds:g} s and was killed", fix=f"command: {shlex.join(command)}"
        )
    if out.dropped:
        raise StageFailure(f"{name} printed more than {STDOUT_BYTES >> 20} MiB", expected="less output")
    if process.returncode != 0:
        raise StageFailure(f"{name} {describe_exit(process.returncode)}: {first_error(err.text())}")
    return Finished(command, time.monotonic() - begin, out.text(), err.text())
