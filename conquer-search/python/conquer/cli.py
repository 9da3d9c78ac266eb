"""The `conquer` command: one verb per stage, and `run` for all of them.

Results go to stdout (as JSON with --json), progress and the one message of an error to stderr. Exit codes: 0 fine,
1 a message, 2 a wrong command line, 130 interrupted.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated, Any

import typer

from conquer import artifacts as files
from conquer import bench, modules, orchestrate, report, stages
from conquer import doctor as examination
from conquer.artifacts import Run
from conquer.errors import ConquerError
from conquer.flags import Jobs, SearchFlags, Seconds, remembered, with_search_flags
from conquer.orchestrate import SearchOptions
from conquer.stages import Session
from conquer.terminal import Progress, guarded, say, stdout

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Find the precision of every layer of a network on measured latency; compile the modules of the front.",
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The run folder.")]
Json = Annotated[bool, typer.Option("--json", help="Answer with JSON on stdout.")]
Data = Annotated[Path | None, typer.Option(help="Data set: a folder of .npy files, or a data.json.")]
Preprocess = Annotated[Path | None, typer.Option(help="preprocess.json for raw images. Default: beside the model.")]
Profile = Annotated[str | None, typer.Option(help="Hardware profile: a name, a .json file, or host. Default: host.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of measurements. Default: the profile's.")]
Method = Annotated[str, typer.Option(help="How ranges are chosen: minmax, percentile, mse.")]
Percentile = Annotated[float, typer.Option(min=50, max=100, help="For the method percentile.")]
Gens = Annotated[int | None, typer.Option("--gens", min=1, help="The front after this generation. Default: the last.")]
Dims = Annotated[list[str] | None, typer.Option("--dim", help="Size of a dynamic dimension: N=1. May be repeated.")]
Model = Annotated[Path, typer.Argument(help="An ONNX model.")]
Policies = Annotated[
    list[Path] | None,
    typer.Option("--policy", help="A policy.json; may be given again. Default: the front, f32 and uniform i8."),
]
Out = Annotated[Path, typer.Option(help="The run folder to write.")]


class Work:
    """An opened run folder with its session: `with Work(folder) as session`."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        run = Run(folder)
        settings = {name: _absolute(name, value) for name, value in settings.items()}
        profile = settings.get("profile") or run.settings.get("profile", "host")
        self.session = Session(run, modules.Target.load(profile), self._say)
        run.remember(**settings)  # only now: a profile that cannot be read is not kept
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


@app.command("import")
@guarded
def import_(model: Model, out: Out, dim: Dims = None, json_output: Json = False) -> Any:
    """Read an ONNX model, check it against ONNX Runtime, write model.tosa.mlir.

    Example: conquer import examples/resnet/resnet18_fashion.onnx --out runs/resnet
    """
    with Progress() as progress:
        run = Run(out, create=True)
        stages.import_stage(run, model, _dims(dim), progress)
        run.remember(model=str(model.resolve()), preprocess=_beside(model))
    return _files(run, files.MODEL)


@app.command()
@guarded
def prepare(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER|MODEL.mlir", help="A run folder, or a TOSA file of another producer with --out."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="The run folder, for a TOSA file.")] = None,
    profile: Profile = None,
    json_output: Json = False,
) -> Any:
    """Normalise the network for the target, name its layers: prepared.mlir, layers.json.

    Example: conquer prepare runs/resnet --profile host
    """
    folder = source
    if source.suffix == ".mlir":
        if out is None:
            raise ConquerError("a TOSA file needs a run folder", where=str(source), fix="give --out FOLDER")
        folder, run = out, Run(out, create=True)
        stages.adopt_stage(run, source)
        run.remember(model=str(source.resolve()), preprocess=_beside(source))
        run.close()
    with Work(folder, profile=profile) as session:
        stages.prepare_stage(session)
        return _files(session.run, files.PREPARED, files.LAYERS)


@app.command()
@guarded
def calibrate(
    folder: Folder,
    data: Data = None,
    preprocess: Preprocess = None,
    method: Method = "mse",
    percentile: Percentile = 99.99,
    json_output: Json = False,
) -> Any:
    """Find the range of every value on the calibration samples: calibration.json.

    Example: conquer calibrate runs/resnet --data examples/resnet/data.json --method mse
    """
    with Work(folder, data=data, preprocess=preprocess) as session:
        stages.calibrate_stage(session, method, percentile)
        return _files(session.run, files.CALIBRATION)


@app.command()
@guarded
def sensitivity(folder: Folder, data: Data = None, json_output: Json = False) -> Any:
    """Find what each layer alone does to the output in each precision: sensitivity.json.

    Example: conquer sensitivity runs/resnet
    """
    with Work(folder, data=data) as session:
        stages.sensitivity_stage(session)
        return _files(session.run, files.SENSITIVITY)


@app.command()
@guarded
@with_search_flags
def search(
    folder: Folder,
    flags: SearchFlags,
    data: Data = None,
    json_output: Json = False,
) -> Any:
    """Search the policies, each candidate evaluated, compiled and measured: search.sqlite, front.json.

    Example: conquer search runs/resnet --generations 10 --population 6 --seed 1
    """
    with Work(folder, data=data) as session:
        options = flags.options(session.run)
        session.run.remember(search=options.remembered())
        bench.table_stage(session, options.compile_limits)
        front = orchestrate.search(session, options)
        if not json_output:
            _show_front(session, front)
        return _files(session.run, files.FRONT)


@app.command("compile")
@guarded
def compile_(
    folder: Folder,
    policy: Policies = None,
    gens: Gens = None,
    keep_ir: Annotated[bool, typer.Option("--keep-ir", help="Keep lowered.mlir as text beside each module.")] = False,
    jobs: Jobs = None,
    compile_seconds: Seconds = None,
    json_output: Json = False,
) -> Any:
    """Compile policies to checked IREE modules: policies/, modules/.

    Example: conquer compile runs/resnet --policy my_policy.json
    """
    with Work(folder) as session:
        options = remembered(session.run, compile_seconds, **({"jobs": jobs} if jobs else {}))
        built = _built(session, options, policy, gens, keep_ir)
        rows = [{"name": name, "vmfb": str(module.vmfb), **module.note} for name, module in built.items()]
        if not json_output:
            for row in rows:
                agrees = "identical to" if row["identical"] else f"within {row['max_abs_difference']:.2g} of"
                stdout.print(
                    f"{row['name']}: {row['vmfb']} ({row['bytes']} bytes, {agrees} the evaluator)", soft_wrap=True
                )
        return {"modules": rows}


@app.command()
@guarded
def measure(
    folder: Folder,
    policy: Policies = None,
    gens: Gens = None,
    table: Annotated[bool, typer.Option("--table", help="Measure the latency table of the layers instead.")] = False,
    threads: Threads = None,
    force: Annotated[bool, typer.Option("--force", help="Measure again.")] = False,
    json_output: Json = False,
) -> Any:
    """Measure modules in rounds interleaved with f32: measurement.json; or with --table the layers: latency_table.json.

    Example: conquer measure runs/resnet --threads 1
    """
    with Work(folder, threads=threads) as session:
        options = remembered(session.run)
        if table:
            bench.table_stage(session, options.compile_limits, force)
            return _files(session.run, files.LATENCY_TABLE)
        built = _built(session, options, policy, gens)
        measurement = orchestrate.measure_modules(session, built, options, files.MEASUREMENT, force)
        if not json_output:
            for name, row in zip(built, measurement["modules"], strict=True):
                against = f"{1 / row['ratio_to_reference']:.2f}x f32"
                say(f"{name}: {row['median_ms']:.3f} ms, IQR {row['spread_ms']:.3f}, {against}")
        return _files(session.run, files.MEASUREMENT)


@app.command()
@guarded
def evaluate(
    folder: Folder,
    policy: Policies = None,
    gens: Gens = None,
    split: Annotated[str, typer.Option(help="Data set: report, or search.")] = "report",
    data: Data = None,
    json_output: Json = False,
) -> Any:
    """Latency and accuracy drop of the front on the report set, beside f32 and uniform i8: evaluation.json, report.md.

    Example: conquer evaluate runs/resnet --gens 5
    """
    if split not in ("report", "search"):
        raise ConquerError(f"unknown data set '{split}'", where="--split", expected="report or search")
    with Work(folder, data=data) as session:
        return _report(session, remembered(session.run), policy, gens, split, json_output)


@app.command()
@guarded
@with_search_flags
def run(
    model: Model,
    out: Out,
    data: Annotated[Path, typer.Option(help="Data set: a folder of .npy files, or a data.json.")],
    flags: SearchFlags,
    preprocess: Preprocess = None,
    dim: Dims = None,
    profile: Profile = "host",
    threads: Threads = None,
    method: Method = "mse",
    percentile: Percentile = 99.99,
    json_output: Json = False,
) -> Any:
    """All of it: a model in, a measured front of modules out. The same command goes on where it was stopped.

    Example: conquer run examples/resnet/resnet18_fashion.onnx --data examples/resnet/data.json --out runs/resnet
    """
    with Progress() as progress:
        folder = Run(out, create=True)
        stages.import_stage(folder, model, _dims(dim), progress)
        folder.remember(model=str(model.resolve()), preprocess=_beside(model))
        folder.close()
    with Work(out, data=data, preprocess=preprocess, profile=profile, threads=threads) as session:
        options = flags.options(session.run)
        session.run.remember(search=options.remembered())
        stages.prepare_stage(session)
        stages.calibrate_stage(session, method, percentile)
        stages.sensitivity_stage(session)
        bench.table_stage(session, options.compile_limits)
        orchestrate.search(session, options)
        return _report(session, options, None, None, "report", json_output)


@app.command()
@guarded
def doctor(json_output: Json = False) -> Any:
    """Say what is installed, what this CPU can do, and what is missing.

    Example: conquer doctor
    """
    findings = examination.examine()
    if not json_output:
        for finding in findings:
            mark = "ok     " if finding["ok"] else "MISSING" if finding["needed"] else "absent "
            stdout.print(
                f"{mark} {finding['name']}: {finding['found']}" + (f"; {finding['fix']}" if finding["fix"] else ""),
                markup=False,
                soft_wrap=True,
            )
    if missing := [finding["name"] for finding in findings if finding["needed"] and not finding["ok"]]:
        raise ConquerError(f"missing: {', '.join(missing)}", fix="see above")
    return {"findings": findings}


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


def _built(
    session: Session, options: SearchOptions, given: list[Path] | None, gens: int | None, keep_ir: bool = False
) -> dict[str, modules.Module]:
    """Modules of the policies given by file, else of f32, uniform i8 and the front."""
    points = _points(session, None if given else orchestrate.front_at(session, options, gens), given)
    return orchestrate.compile_policies(
        session, {name: point["policy"] for name, point in points.items()}, options, keep_ir
    )


def _report(
    session: Session, options: SearchOptions, given: list[Path] | None, gens: int | None, split: str, quiet: bool
) -> Any:
    """Compile, measure and evaluate the policies; print the table; keep it as report.md."""
    front = None if given else orchestrate.front_at(session, options, gens)
    points = _points(session, front, given)
    named = {name: point["policy"] for name, point in points.items()}
    built = orchestrate.compile_policies(session, named, options)
    mark = "" if gens is None else f".gen{gens}"
    measurement = orchestrate.measure_modules(session, built, options, f"measurement{mark}.json")
    evaluation = orchestrate.evaluate_policies(session, named, split, f"evaluation{mark}.json")
    rows = report.rows(points, measurement, evaluation, {name: module.note["bytes"] for name, module in built.items()})
    lines = report.summary(front, measurement, evaluation)
    path = session.run / f"report{mark}.md"
    files.write_text(path, report.markdown(rows, lines))
    if not quiet:
        report.show(stdout, rows, lines)
        say(f"Policies: {session.run / 'policies'}; modules: {session.run / 'modules'}; report: {path}")
    modules_by_name = {name: str(module.vmfb) for name, module in built.items()}
    return {"front": front, "rows": rows, "report": str(path), "modules": modules_by_name}


def _show_front(session: Session, front: dict[str, Any]) -> None:
    for name, point in orchestrate.front_points(session, front).items():
        if measured := point.get("measured"):
            drop = f"drop {100 * measured['accuracy_drop']:+.2f} points"
            say(f"{name}: {measured['latency_ms']:.3f} ms, {drop}, {measured['size_bytes']} bytes")
    say(f"hypervolume {front['hypervolume']:.4f}, of the uniform policies {front['hypervolume_uniform']:.4f}")


def _dims(given: list[str] | None) -> dict[str, int]:
    sizes = {}
    for text in given or []:
        name, _, size = text.rpartition("=")
        if not name or not size.isdecimal() or int(size) < 1:
            raise ConquerError(f"'{text}'", where="--dim", expected="a name and a size, such as N=1")
        sizes[name] = int(size)
    return sizes


def _beside(model: Path) -> str | None:
    beside = model.resolve().parent / "preprocess.json"
    return str(beside) if beside.is_file() else None


def _files(run: Run, *names: str) -> dict[str, Any]:
    """What a verb answers: the files it wrote."""
    return {"files": [str(run / name) for name in names]}


def _stop(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def main() -> None:
    signal.signal(signal.SIGTERM, _stop)
    app(prog_name="conquer")


if __name__ == "__main__":
    main()
