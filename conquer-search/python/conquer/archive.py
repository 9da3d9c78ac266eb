"""A run's archives: conquer-search on the one that belongs to the inputs, options and programs there are now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conquer import artifacts as files
from conquer import stages, tools
from conquer.artifacts import digest, read_json, write_json
from conquer.errors import ConquerError
from conquer.server import Server
from conquer.stages import Session

OBJECTIVES = ["latency_ms", "accuracy_drop", "size_bytes"]
SEARCH_INPUTS = {
    files.LAYERS: "prepare",
    files.SENSITIVITY: "sensitivity",
    files.LATENCY_TABLE: "measure --table",
}
STALE = "the archive is of other inputs, options or programs"


@dataclass(frozen=True)
class SearchOptions:
    """Size of the search. The default takes about 6 minutes for a ResNet-18 of 28 pixels on 2 cores."""

    generations: int = 10
    population: int = 8
    seed: int = 1
    offspring_factor: int = 8
    jobs: int = 2
    constraints: dict[str, Any] = field(default_factory=dict)
    compile_limits: tools.Limits = field(default_factory=tools.Limits)

    def remembered(self) -> dict[str, Any]:
        """What later verbs need to open the same archive."""
        names = ("generations", "population", "seed", "offspring_factor", "jobs", "constraints")
        return {name: getattr(self, name) for name in names}

    def check(self) -> None:
        for name, low in (("generations", 1), ("population", 2), ("seed", 0), ("offspring_factor", 1), ("jobs", 1)):
            if getattr(self, name) < low:
                raise ConquerError(
                    f"{getattr(self, name)}", where=f"--{name.replace('_', '-')}", expected=f"at least {low}"
                )


def problem(session: Session, options: SearchOptions) -> dict[str, Any]:
    """All that the told values depend on: what decides to which archive they belong."""
    run = session.run
    paths = [run.need(name, verb) for name, verb in SEARCH_INPUTS.items()]
    return {
        "inputs": {path.name: tools.file_digest(path) for path in paths},
        "calibration": tools.file_digest(run.need(files.CALIBRATION, "calibrate")),
        "search": [tools.file_digest(path) for path in stages.data_stage(session, "search").all()],
        "seed": options.seed,
        "population": options.population,
        "offspring_factor": options.offspring_factor,
        "constraints": options.constraints,
        "compile": session.target.compile_options(),
        "programs": {name: session.program(name) for name in tools.PROGRAMS},
    }


def current_key(session: Session) -> str | None:
    """The key of the archive in use."""
    path = session.run / files.SEARCH
    return read_json(path, "conquer.search").get("key") if path.is_file() else None


@contextmanager
def archive(session: Session, options: SearchOptions, look: bool = False) -> Iterator[Server]:
    """conquer-search on this run's archive, search-KEY.sqlite, where KEY is the problem's.

    search.json names the archive in use: the front and what later verbs show are of that one. Who only wants to `look`
    is told where it is of another problem.
    """
    run, posed = session.run, problem(session, options)
    key, known = digest(posed), current_key(session)
    path = run / f"search-{key[:8]}.sqlite"
    if look and known != key:
        raise ConquerError(STALE, where=str(run / files.SEARCH), fix="run 'conquer search' again")
    params: dict[str, Any] = {
        name: getattr(options, name) for name in ("seed", "population", "generations", "offspring_factor")
    }
    params |= {
        **{Path(name).stem: str(run / name) for name in SEARCH_INPUTS},
        "objectives": OBJECTIVES,
        "constraints": options.constraints,
    }

    def prepare(server: Server) -> None:
        server.call("open", params)

    with Server(
        [str(tools.find_program("conquer-search")), "--archive", str(path)], seconds=300.0, prepare=prepare
    ) as server:
        server.start()  # refuses wrong options before anything changes
        if known != key:
            (run / files.FRONT).unlink(missing_ok=True)  # it is of the other archive
            head = {"format": "conquer.search", "version": 1, "key": key, "archive": path.name}
            write_json(run / files.SEARCH, head | {"options": posed})
            if known:
                session.say(f"another search begins in {path.name}; the one before stays")
        yield server


def front_at(session: Session, options: SearchOptions, generation: int | None) -> dict[str, Any]:
    """The front as it stood after a generation, counted from 1; without a number that of front.json."""
    if generation is None and (session.run / files.FRONT).is_file():
        return read_json(session.run / files.FRONT, "conquer.front")  # type: ignore[no-any-return]
    session.run.need(files.SEARCH, "search")
    with archive(session, options, look=True) as server:
        complete = len(server.call("log")["generations"])
        if generation is not None and generation > complete:
            raise ConquerError(f"{generation}", where="--gens", expected=f"1 to {complete}, the complete generations")
        return server.call("front", {} if generation is None else {"generation": generation - 1})  # type: ignore[no-any-return]


def is_stale(session: Session, options: SearchOptions) -> bool:
    """Whether the front belongs to other inputs, options or programs than there are now."""
    return current_key(session) != digest(problem(session, options))
