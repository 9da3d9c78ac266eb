"""The run folder: names of its files, atomic writes, the lock, and the stamps that make a rerun free.

A stage's key is the hash of its inputs' contents, its options and the versions of the tools. The key stands in
`<output>.stamp.json` beside the stage's first output, written after the output. A stage is skipped only when the key
is the same and every output still has the content that the stage gave it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conquer.errors import ConquerError
from conquer.tools import file_digest

MODEL, PREPARED, LAYERS = "model.tosa.mlir", "prepared.mlir", "layers.json"
CALIBRATION, SENSITIVITY, LATENCY_TABLE = "calibration.json", "sensitivity.json", "latency_table.json"
SEARCH, FRONT, MEASUREMENT, EVALUATION = "search.json", "front.json", "measurement.json", "evaluation.json"
SETTINGS = "run.json"


def digest(value: Any) -> str:
    """SHA-256 of a JSON value, the same for equal values."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: a temporary file beside it, then a rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys occur once each."""
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise ValueError(f"'{twice}' occurs twice")
    return value


def read_json(path: Path, file_format: str = "", fix: str = "") -> Any:
    """A JSON file of one of our formats; anything else is one message."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_unique)
    except FileNotFoundError:
        raise ConquerError("no such file", where=str(path), fix=fix) from None
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise ConquerError(f"cannot read: {error}", where=str(path), expected="a JSON file", fix=fix) from None
    if file_format:
        found = (value.get("format"), value.get("version")) if isinstance(value, dict) else None
        if found != (file_format, 1):
            raise ConquerError(
                f"unexpected format {found}",
                where=str(path),
                expected=f'"format": "{file_format}", "version": 1',
                fix=fix,
            )
    return value


class Run:
    """One run folder, locked for as long as it is open."""

    def __init__(self, folder: Path, create: bool = False) -> None:
        self.folder = folder
        if not create and not (folder / SETTINGS).is_file():
            raise ConquerError(
                "not a run folder",
                where=str(folder),
                expected=f"a folder with {SETTINGS}",
                fix="make one with 'conquer import' or 'conquer run'",
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(folder / ".lock", "a+")  # noqa: SIM115  held until the process ends
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConquerError(
                "another conquer command works on this folder",
                where=str(folder),
                fix="wait for it, or choose another --out",
            ) from None
        except OSError as error:
            raise ConquerError(f"cannot use as a run folder: {error.strerror}", where=str(folder)) from None
        for left in [*folder.glob(".*.tmp"), *folder.glob("*/.*.tmp"), *folder.glob("*/*/.*.tmp")]:  # from a killed run
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        path = folder / SETTINGS
        self.settings: dict[str, Any] = read_json(path, "conquer.run") if path.is_file() else {}
        self._kept = self.settings

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def close(self) -> None:
        self._lock.close()

    def need(self, name: str, verb: str) -> Path:
        """A file that an earlier verb wrote."""
        if not (self / name).is_file():
            raise ConquerError(f"{name} is missing", where=str(self.folder), fix=f"run 'conquer {verb}' first")
        return self / name

    def remember(self, **settings: Any) -> None:
        """Settings for this verb and, once a stage succeeded with them, for later ones; None leaves what is there."""
        self.settings = self.settings | {name: value for name, value in settings.items() if value is not None}

    def keep(self) -> None:
        """Write the settings to run.json."""
        head = {"format": "conquer.run", "version": 1}
        if head | self.settings != self._kept:
            self._kept = head | self.settings
            write_json(self / SETTINGS, self._kept)

    def stage(
        self, outputs: list[str], inputs: list[Path], options: dict[str, Any], action: Callable[[list[Path]], Any]
    ) -> bool:
        """Run `action(temporary outputs)` unless its outputs are up to date; True when it ran.

        The action writes to temporary names, which become the outputs only after it has returned.
        """
        for path in inputs:
            if not path.is_file():
                raise ConquerError("no such file", where=str(path))
        key = digest({"inputs": [file_digest(path) for path in inputs], "options": options})
        stamp = self / f"{outputs[0]}.stamp.json"
        if stamp.is_file():
            with contextlib.suppress(ConquerError, AttributeError):
                known = read_json(stamp)
                if known.get("key") == key and known.get("outputs") == self._digests(outputs):
                    self.keep()
                    return False
        with scratch(self.folder) as folder:
            made = [folder / Path(name).name for name in outputs]
            command = action(made)
            for path in made:
                if not path.is_file() or path.stat().st_size == 0:
                    raise ConquerError(f"nothing was written for {path.name}", where=str(self.folder))
            stamp.unlink(missing_ok=True)
            for path, name in zip(made, outputs, strict=True):
                (self / name).parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, self / name)
        note = {
            "format": "conquer.stamp",
            "version": 1,
            "key": key,
            "outputs": self._digests(outputs),
            "options": options,
        }
        write_json(stamp, note | ({"command": command} if isinstance(command, list) else {}))
        self.keep()
        return True

    def _digests(self, outputs: list[str]) -> dict[str, str]:
        return {name: file_digest(self / name) if (self / name).is_file() else "" for name in outputs}


@contextlib.contextmanager
def scratch(parent: Path) -> Iterator[Path]:
    """A temporary folder on the file system of the run, so that a rename out of it is atomic."""
    # Python 3.12 and later answer an absolute path, and callers take the path relative to `parent`.
    folder = parent / Path(tempfile.mkdtemp(prefix=".work.", suffix=".tmp", dir=parent)).name
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
