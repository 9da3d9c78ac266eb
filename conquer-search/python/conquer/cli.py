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
from conquer import bench, fronts, orchestrate, stages
from conquer import doctor as examination
from conquer.artifacts import Run
from conquer.errors import ConquerError
from conquer.flags import Jobs, SearchFlags, Seconds, remembered, with_search_flags
from conquer.terminal import Progress, guarded, say, stdout
from conquer.work import Work, beside

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


@app.command("import")
@guarded
def import_(model: Model, out: Out, dim: Dims = None, json_output: Json = False) -> Any:
    """Read an ONNX model, check it against ONNX Runtime, write model.tosa.mlir.

    Example: conquer import examples/resnet/resnet18_fashion.onnx --out runs/resnet
    """
    with Progress() as progress:
        run = Run(out, create=True)
        stages.import_stage(run, model, _dims(dim), progress)
        run.remember(model=str(model.resolve()), preprocess=beside(model))
        run.keep()
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
        run.remember(model=str(source.resolve()), preprocess=beside(source))
        run.keep()
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
    """Search the policies, each candidate evaluated, compiled and measured: search-KEY.sqlite, front.json.

    Example: conquer search runs/resnet --generations 10 --population 6 --seed 1
    """
    with Work(folder, data=data) as session:
        options = flags.options(session.run)
        bench.table_stage(session, options.compile_limits)
        front = orchestrate.search(session, options)
        if not json_output:
            fronts.show(session, front)
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
        options = remembered(session.run, compile_seconds, **({} if jobs is None else {"jobs": jobs}))
        built = fronts.build(session, options, policy, gens, keep_ir)
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
    with Work(folder) as session:
        session.threads_given = threads
        options = remembered(session.run)
        if table:
            bench.table_stage(session, options.compile_limits, force)
            return _files(session.run, files.LATENCY_TABLE)
        built = fronts.build(session, options, policy, gens)
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
        stages.data_stage(session, split)
        return fronts.report_on(session, remembered(session.run), policy, gens, split, json_output)


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
        folder.remember(model=str(model.resolve()), preprocess=beside(model))
        folder.keep()
        folder.close()
    with Work(out, data=data, preprocess=preprocess, profile=profile, threads=threads) as session:
        options = flags.options(session.run)
        stages.prepare_stage(session)
        for split in stages.SPLITS:  # what is wrong with the data is said before any work
            stages.data_stage(session, split)
        stages.calibrate_stage(session, method, percentile)
        stages.sensitivity_stage(session)
        bench.table_stage(session, options.compile_limits)
        orchestrate.search(session, options)
        return fronts.report_on(session, options, None, None, "report", json_output)


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


def _dims(given: list[str] | None) -> dict[str, int]:
    sizes = {}
    for text in given or []:
        name, _, size = text.rpartition("=")
        if not name or not size.isdecimal() or int(size) < 1:
            raise ConquerError(f"'{text}'", where="--dim", expected="a name and a size, such as N=1")
        sizes[name] = int(size)
    return sizes


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
