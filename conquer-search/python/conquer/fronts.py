"""A front beside the uniform policies: compiled, measured, evaluated, shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conquer import archive, modules, orchestrate, report
from conquer import artifacts as files
from conquer.archive import SearchOptions
from conquer.errors import ConquerError, StageFailure
from conquer.stages import Session
from conquer.terminal import say, stderr, stdout

STALE_FRONT = "the front is of other inputs, options or programs than these; 'conquer search' finds that of these"


def _points(session: Session, front: dict[str, Any] | None, given: list[Path] | None) -> dict[str, dict[str, Any]]:
    """The policies given by file, else f32, uniform i8 and those of the front."""
    if front is not None and not given:
        return orchestrate.front_points(session, front)
    layers = session.layers()["layers"]
    points = {}
    for path in given or []:
        if path.stem in points:
            raise ConquerError(f"two policies are called '{path.stem}'", where=str(path), fix="rename one of the files")
        points[path.stem] = {"policy": modules.read_policy(path)}
        modules.check_policy(points[path.stem]["policy"], layers, str(path))
    return points


def build(
    session: Session, options: SearchOptions, given: list[Path] | None, gens: int | None, keep_ir: bool = False
) -> dict[str, modules.Module]:
    """Modules of the policies given by file, else of f32, uniform i8 and the front."""
    points = _points(session, None if given else archive.front_at(session, options, gens), given)
    if not given and archive.is_stale(session, options):
        stderr.print(f"note: {STALE_FRONT}", soft_wrap=True)
    built, failed = orchestrate.compile_policies(
        session, {name: point["policy"] for name, point in points.items()}, options, keep_ir
    )
    for name, failure in failed.items():  # after all were tried
        raise StageFailure(f"policy {name}: {failure.message()}")
    return built


def report_on(
    session: Session, options: SearchOptions, given: list[Path] | None, gens: int | None, split: str, quiet: bool
) -> Any:
    """Compile, measure and evaluate the policies; print the table; keep it as report.md."""
    front = None if given else archive.front_at(session, options, gens)
    points = _points(session, front, given)
    named = {name: point["policy"] for name, point in points.items()}
    built, failed = orchestrate.compile_policies(session, named, options)
    if not built:
        raise next(iter(failed.values()))
    named, points = ({name: table[name] for name in built} for table in (named, points))
    mark = "" if gens is None else f".gen{gens}"
    measurement = orchestrate.measure_modules(session, built, options, f"measurement{mark}.json")
    evaluation = orchestrate.evaluate_policies(session, named, split, f"evaluation{mark}.json")
    rows = report.rows(points, measurement, evaluation, {name: module.note["bytes"] for name, module in built.items()})
    lines = report.summary(front, measurement, evaluation)
    if front and archive.is_stale(session, options):
        lines.append(f"Note: {STALE_FRONT}.")
    lines += [f"Without a module, left out: policy {name}: {failure.message()}" for name, failure in failed.items()]
    path = session.run / f"report{mark}.md"
    files.write_text(path, report.markdown(rows, lines))
    if not quiet:
        report.show(stdout, rows, lines)
        say(f"Policies: {session.run / 'policies'}; modules: {session.run / 'modules'}; report: {path}")
    modules_by_name = {name: str(module.vmfb) for name, module in built.items()}
    return {"front": front, "rows": rows, "report": str(path), "modules": modules_by_name}


def show(session: Session, front: dict[str, Any]) -> None:
    """Say what the search knows of each policy of the front."""
    for name, point in orchestrate.front_points(session, front).items():
        if measured := point.get("measured"):
            drop = f"drop {100 * measured['accuracy_drop']:+.2f} points"
            say(f"{name}: {measured['latency_ms']:.3f} ms, {drop}, {measured['size_bytes']} bytes")
    say(f"hypervolume {front['hypervolume']:.4f}, of the uniform policies {front['hypervolume_uniform']:.4f}")
