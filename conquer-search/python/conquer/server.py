"""Client of the JSON-lines programs: one request per line, one answer per line, progress in between.

A program that dies, hangs or speaks nonsense is one clear error; the next call starts it afresh where the caller
allows it.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Self

from conquer import tools
from conquer.errors import ConquerError, StageFailure

Progress = Callable[[str, int, int], None]
MAX_LINE = 256 << 20  # bytes; an answer with a string of hits for a million images is far below


class Server:
    """One running program. `prepare` is called after each (re)start, to bring it into its state."""

    def __init__(
        self,
        command: list[str],
        seconds: float = 600.0,
        prepare: Callable[[Server], None] | None = None,
    ) -> None:
        self.command, self.seconds = command, seconds
        self.name = Path(command[0]).name if "-m" not in command else command[command.index("-m") + 1]
        self._prepare = prepare
        self._process: subprocess.Popen[bytes] | None = None
        self._id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[bytes]:
        process = tools.start(self.command)
        assert process.stdout and process.stderr
        os.set_blocking(process.stdout.fileno(), False)
        self._process, self._buffer, self._stderr = process, bytearray(), tools.Tail(process.stderr)
        if self._prepare:
            try:
                self._prepare(self)
            except BaseException:
                self.kill()
                raise
        return process

    def start(self) -> None:
        """Start the program if it does not run; what it refuses to begin with is raised."""
        if not self._process:
            self._start()

    def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        progress: Progress | None = None,
        seconds: float | None = None,
        refusal: type[ConquerError] = ConquerError,
    ) -> Any:
        """Ask and wait for the answer. `seconds` limits the silence between two lines.

        An answer that says no raises `refusal`: StageFailure where it costs no more than one candidate.
        """
        process = self._process or self._start()
        assert process.stdin
        self._id += 1
        request = json.dumps({"id": self._id, "method": method, "params": params or {}}, allow_nan=False) + "\n"
        try:
            process.stdin.write(request.encode())
            process.stdin.flush()
        except OSError:
            self._died(method)
        while True:
            answer = self._read(method, seconds or self.seconds)
            if answer.get("id") != self._id:
                self._fail(f"{self.name} answered a request that was not made", str(answer)[:200])
            if "progress" in answer:
                if progress and isinstance(answer["progress"], dict):
                    part = answer["progress"]
                    progress(str(part.get("stage", method)), int(part.get("done", 0)), int(part.get("total", 0)))
            elif answer.get("ok") is True and "result" in answer:
                return answer["result"]
            else:
                raise refusal.from_json(answer.get("error"), self.name)

    def _read(self, method: str, seconds: float) -> dict[str, Any]:
        line = self._read_line(method, time.monotonic() + seconds, seconds)
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            self._fail(f"{self.name} answered '{method}' with something that is not JSON", repr(line[:200])[2:-1])
        return answer

    def _read_line(self, method: str, deadline: float, seconds: float) -> bytes:
        assert self._process and self._process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while (end := self._buffer.find(b"\n")) < 0:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    self._fail(f"{self.name} gave no answer to '{method}' within {seconds:g} s and was killed")
                chunk = self._process.stdout.read(1 << 20)
                if chunk == b"":
                    self._died(method)
                self._buffer += chunk or b""
                if len(self._buffer) > MAX_LINE:
                    self._fail(f"{self.name} answered '{method}' with a line of more than {MAX_LINE >> 20} MiB")
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return line

    def _died(self, method: str) -> NoReturn:
        assert self._process
        process, ended = self._process, tools.wait_exit(self._process, 2.0)
        tools.kill_group(process)
        how = tools.describe_exit(process.returncode) if ended else "closed its output"
        self._fail(f"{self.name} {how} during '{method}': {tools.first_error(self._stderr.text())}")

    def _fail(self, what: str, detail: str = "") -> NoReturn:
        self.kill()
        raise StageFailure(f"{what}: {detail}" if detail else what, fix=f"command: {shlex.join(self.command)}")

    def kill(self) -> None:
        """End the program at once; the next call starts a new one."""
        if self._process:
            tools.kill_group(self._process)
            for stream in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()  # type: ignore[union-attr]
            self._process = None

    def close(self) -> None:
        """Ask the program to end, and make sure that it has."""
        if self._process:
            with contextlib.suppress(ConquerError):
                self.call("shutdown", seconds=5.0)
        self.kill()
