"""The options of the search on the command line, shared by the verbs that search."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer

from conquer.archive import SearchOptions
from conquer.artifacts import Run
from conquer.errors import ConquerError
from conquer.tools import Limits

Jobs = Annotated[int | None, typer.Option(help="Compilers that run at once.")]
Seconds = Annotated[float | None, typer.Option(min=1, help="Limit of one iree-compile.")]
DEFAULT = SearchOptions()


@dataclass(frozen=True)
class SearchFlags:
    """What was given; None is as this run had it before, else the default."""

    generations: Annotated[int | None, typer.Option(help="Generations of the search.")] = None
    population: Annotated[int | None, typer.Option(help="Policies evaluated per generation.")] = None
    seed: Annotated[int | None, typer.Option(help="Same seed, same proposals.")] = None
    offspring_factor: Annotated[
        int | None, typer.Option(help="Proposals per evaluated policy, ranked by the surrogates.")
    ] = None
    max_latency: Annotated[float | None, typer.Option(help="Milliseconds a policy may take.")] = None
    max_accuracy_drop: Annotated[
        float | None, typer.Option(help="Loss of accuracy a policy may have, as a fraction: 0.01 is one point.")
    ] = None
    max_size: Annotated[float | None, typer.Option(help="Bytes a module may have.")] = None
    pin: Annotated[
        list[str] | None, typer.Option(help="A layer that keeps its precision: LAYER=f32. May be repeated.")
    ] = None
    jobs: Jobs = None
    compile_seconds: Seconds = None

    def options(self, run: Run) -> SearchOptions:
        """The options of a verb that searches. Constraints are those given now: others make another search."""
        names = ("generations", "population", "seed", "offspring_factor", "jobs")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return remembered(run, self.compile_seconds, **given, constraints=self.constraints())

    def constraints(self) -> dict[str, Any]:
        """As conquer-search takes them, see docs/formats.md."""
        limits = {
            "latency_ms": self.max_latency,
            "accuracy_drop": self.max_accuracy_drop,
            "size_bytes": self.max_size,
        }
        given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
        for name, limit in given.items():
            if not math.isfinite(limit):
                raise ConquerError(f"{limit}", where=f"the limit of {name}", expected="a finite number")
        for text in self.pin or []:
            layer, _, precision = text.rpartition("=")
            if not layer:
                raise ConquerError(f"'{text}'", where="--pin", expected="a layer and a precision, such as /conv1=f32")
            given.setdefault("pinned", {})[layer] = precision
        return given


def remembered(run: Run, compile_seconds: float | None = None, **given: Any) -> SearchOptions:
    """The options that this run had, with those given now in their place; for verbs that look at a search."""
    chosen = DEFAULT.remembered() | run.settings.get("search", {}) | given
    options = SearchOptions(**chosen, compile_limits=Limits(compile_seconds or DEFAULT.compile_limits.seconds))
    options.check()
    return options


def with_search_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """Gives a verb the search's options, which it takes as its parameter `flags`."""
    hints = get_type_hints(SearchFlags, include_extras=True)
    own = inspect.signature(command)
    added = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(SearchFlags)
    ]

    @functools.wraps(command)
    def wrapper(**kwargs: Any) -> Any:
        return command(flags=SearchFlags(**{f.name: kwargs.pop(f.name) for f in fields(SearchFlags)}), **kwargs)

    notes = get_type_hints(command, include_extras=True)
    kept = [p.replace(annotation=notes[p.name]) for p in own.parameters.values() if p.name != "flags"]
    wrapper.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *added]}
    return wrapper
