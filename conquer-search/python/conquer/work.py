"""What every verb begins with: a run folder opened, with its settings and programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conquer.artifacts import Run
from conquer.errors import ConquerError
from conquer.modules import Target
from conquer.stages import Session
from conquer.terminal import Progress


class Work:
    """An opened run folder with its session: `with Work(folder) as session`."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        run = Run(folder)
        settings = {name: _absolute(name, value) for name, value in settings.items()}
        profile = settings.get("profile") or run.settings.get("profile", "host")
        self.session = Session(run, Target.load(profile), self._say)
        run.remember(**settings)
        self._progress: Progress | None = None

    def _say(self, text: str) -> None:
        if self._progress:
            self._progress(text)

    def __enter__(self) -> Session:
        self._progress = Progress()
        return self.session

    def __exit__(self, *details: object) -> None:
        self.session.close()
        if self._progress:
            self._progress.__exit__()


def _absolute(name: str, value: Any) -> Any:
    """Paths are kept absolute, so that later verbs may run elsewhere."""
    if isinstance(value, Path) or (name == "profile" and isinstance(value, str) and value.endswith(".json")):
        path = Path(value).resolve()
        if not path.exists():
            raise ConquerError("no such file", where=str(value))
        if name == "profile" and " " in str(path):
            raise ConquerError("a profile's path may not hold a space", where=str(path))
        return str(path)
    return value


def beside(model: Path) -> str | None:
    """The preprocess.json that lies beside a model, if there is one."""
    path = model.resolve().parent / "preprocess.json"
    return str(path) if path.is_file() else None
