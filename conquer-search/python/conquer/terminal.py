"""What a verb does at a terminal: results on stdout, progress and the one message of an error on stderr."""

from __future__ import annotations

import functools
import json
import os
import time
import traceback
from collections.abc import Callable
from typing import Any

import typer
from rich.console import Console

from conquer import report, tools
from conquer.errors import ConquerError

stdout, stderr = Console(width=max(report.WIDTH, Console().width)), Console(stderr=True, highlight=False)


def say(text: str) -> None:
    """A line of a result."""
    stdout.print(text, soft_wrap=True, markup=False, highlight=False)


class Progress:
    """Says what goes on: a spinner on a terminal, elsewhere a line at most every 10 seconds, the first after 2."""

    def __init__(self) -> None:
        self._status = stderr.status("") if stderr.is_terminal else None
        self._next = time.monotonic() + 2.0
        if self._status:
            self._status.start()

    def __call__(self, text: str) -> None:
        if self._status:
            self._status.update(text)
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + 10.0
            stderr.print(text, soft_wrap=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._status:
            self._status.stop()


def guarded(command: Callable[..., Any]) -> Callable[..., None]:
    """Answer with JSON if asked; turn every exception into one message and an exit code; leave no program running."""

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        try:
            answer = command(*args, **kwargs)
            if kwargs.get("json_output"):
                print(json.dumps(answer, indent=1))
            elif set(answer) == {"files"}:
                print("\n".join(answer["files"]))
        except ConquerError as error:
            _fail(error.message(), error.as_json() if kwargs.get("json_output") else None)
        except KeyboardInterrupt:
            _fail("interrupted; the same command goes on where it stopped", None, 130)
        except OSError as error:
            _fail(f"{error.filename or 'system'}: {error.strerror or error}", None)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            if os.environ.get("CONQUER_DEBUG"):
                traceback.print_exc()
            _fail(
                f"internal error: {type(error).__name__}: {error}; set CONQUER_DEBUG=1 to see where, and report it",
                None,
                70,
            )
        finally:
            tools.kill_all()

    return wrapper


def _fail(message: str, error: dict[str, str] | None, code: int = 1) -> None:
    if error is not None:
        print(json.dumps({"error": error}, indent=1))
    stderr.print(f"conquer: {message}", markup=False, soft_wrap=True)
    raise typer.Exit(code)
