"""The stages before the search: one function each over a run folder, skipped when nothing it depends on changed."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from conquer import artifacts as files
from conquer import data, modules, tools
from conquer.artifacts import Run, read_json
from conquer.devices import LocalDevice, require_features
from conquer.errors import ConquerError
from conquer.server import Server

Say = Callable[[str], None]
SPLITS = ("calibration", "search", "report")
METHODS = ("minmax", "percentile", "mse")


@dataclass
class Session:
    """A run folder with what its stages need: the profile, a device, the evaluator, a way to say what goes on."""

    run: Run
    target: modules.Target
    say: Say
    threads_given: int | None = None  # for this verb alone
    _evaluator: Server | None = None
    _device: LocalDevice | None = None

    @property
    def threads(self) -> int:
        return int(self.threads_given or self.run.settings.get("threads") or self.target.resolved["threads"])

    @property
    def device(self) -> LocalDevice:
        profile, machine = self.target.resolved, platform.machine()
        if (profile["driver"], profile["arch"]) != ("local", machine):
            raise ConquerError(
                f"is of a device of architecture {profile['arch']} with the driver '{profile['driver']}'",
                where=f"profile '{profile['name']}'",
                expected=f"{machine} and 'local', what this machine has, to run modules",
                fix="choose a profile of this machine",
            )
        if self._device is None:
            require_features(profile["features"], f"profile '{profile['name']}'")
            self._device = LocalDevice(self.threads)
        return self._device

    @property
    def evaluator(self) -> Server:
        """conquer-eval on the prepared network; restarted with the calibration that is there."""
        if self._evaluator is None:
            command = [
                str(tools.find_program("conquer-eval")),
                "--prepared",
                str(self.run.need(files.PREPARED, "prepare")),
            ]
            command += ["--profile", self.target.profile]
            if (self.run / files.CALIBRATION).is_file():
                command += ["--calibration", str(self.run / files.CALIBRATION)]
            self._evaluator = Server(command, seconds=900.0)
        return self._evaluator

    def restart_evaluator(self) -> None:
        if self._evaluator is not None:
            self._evaluator.close()
            self._evaluator = None

    def close(self) -> None:
        for part in (self._evaluator, self._device):
            if part is not None:
                part.close()

    def layers(self) -> dict[str, Any]:
        return read_json(self.run.need(files.LAYERS, "prepare"), "conquer.layers")  # type: ignore[no-any-return]

    def progress(self) -> Callable[[str, int, int], None]:
        return lambda stage, done, total: self.say(f"{stage} {done} of {total}")

    def program(self, name: str) -> str:
        return tools.file_digest(tools.find_program(name))


def import_stage(run: Run, model: Path, dims: dict[str, int], say: Say) -> bool:
    """model.onnx -> model.tosa.mlir."""
    from conquer import importer, normalise  # need onnx and onnxruntime, which nothing else does

    if not model.is_file():
        raise ConquerError("no such file", where=str(model), expected="an ONNX model")
    options = {
        "stage": "import",
        "dims": dims,
        "conquer-opt": tools.file_digest(tools.find_program("conquer-opt")),
        "versions": importer.versions(),
        "package": tools.package_digest(),
    }

    def action(made: list[Path]) -> None:
        say(f"importing {model.name}")
        importer.import_onnx(model, made[0], dims)

    return run.stage([files.MODEL], [model, *normalise.external_files(model)], options, action)


def adopt_stage(run: Run, model: Path) -> bool:
    """A TOSA file of another producer -> model.tosa.mlir."""

    def copy(made: list[Path]) -> None:
        made[0].write_bytes(model.read_bytes())

    return run.stage([files.MODEL], [model], {"stage": "adopt"}, copy)


def prepare_stage(session: Session) -> bool:
    """model.tosa.mlir -> prepared.mlir, layers.json."""
    run, target = session.run, session.target
    run.need(files.MODEL, "import")

    def action(made: list[Path]) -> list[str]:
        session.say("preparing the network")
        prepared, layers = (path.relative_to(run.folder) for path in made)
        pipeline = f"--conquer-prepare-pipeline=profile={target.profile} layers={layers}"
        return modules.opt([files.MODEL, pipeline, "-o", str(prepared)], cwd=run.folder).command

    options = {"stage": "prepare", "profile": target.resolved, "conquer-opt": session.program("conquer-opt")}
    ran = run.stage([files.PREPARED, files.LAYERS], [run / files.MODEL], options, action)
    if ran:
        session.restart_evaluator()
    return ran


@dataclass(frozen=True)
class SplitFiles:
    """The .npy files of one split in the run folder."""

    samples: Path
    labels: Path | None
    groups: Path | None

    def all(self) -> list[Path]:
        return [path for path in (self.samples, self.labels, self.groups) if path]


def data_stage(session: Session, name: str) -> SplitFiles:
    """One split of the data set -> data/<name>.npy and, where there are some, _labels.npy and _groups.npy."""
    run = session.run
    if "data" not in run.settings:
        raise ConquerError("no data set", where=str(run.folder), fix="give --data")
    split = data.locate(Path(run.settings["data"]), name)
    spec = Path(run.settings["preprocess"]) if run.settings.get("preprocess") else None
    inputs = session.layers()["inputs"]
    if len(inputs) != 1:
        raise ConquerError(f"the network has {len(inputs)} inputs", where=files.LAYERS, expected="one")

    classes = session.layers()["outputs"][0]["shape"][-1]
    labels, groups = (
        run / f"data/{name}_{kind}.npy" if path else None
        for kind, path in (("labels", split.labels), ("groups", split.groups))
    )
    result = SplitFiles(run / f"data/{name}.npy", labels, groups)

    def action(made: list[Path]) -> None:
        session.say(f"reading the {name} samples")
        loaded = data.load(split, inputs[0]["shape"], spec, classes)
        arrays = [array for array in (loaded.images, loaded.labels, loaded.groups) if array is not None]
        for path, array in zip(made, arrays, strict=True):
            np.save(path, array)

    options = {"stage": "data", "shape": inputs[0]["shape"], "classes": classes, "begin": split.begin, "end": split.end}
    options["package"] = tools.package_digest()
    names = [str(path.relative_to(run.folder)) for path in result.all()]
    run.stage(names, split.files() + ([spec] if spec else []), options, action)
    return result


def calibrate_stage(session: Session, method: str, percentile: float) -> bool:
    """prepared.mlir, calibration samples -> calibration.json."""
    if method not in METHODS:
        raise ConquerError(f"unknown method '{method}'", where="--method", expected=f"one of {', '.join(METHODS)}")
    run = session.run
    samples = data_stage(session, "calibration").samples

    def action(made: list[Path]) -> None:
        session.say("calibrating")
        params: dict[str, Any] = {"samples": str(samples), "method": method, "output": str(made[0])}
        if method == "percentile":
            params["percentile"] = percentile
        session.evaluator.call("calibrate", params, session.progress())

    options = {"stage": "calibrate", "method": method, "percentile": percentile if method == "percentile" else None}
    ran = run.stage(
        [files.CALIBRATION],
        [run.need(files.PREPARED, "prepare"), samples],
        options | _evaluator_options(session),
        action,
    )
    if ran:
        session.restart_evaluator()
    return ran


def sensitivity_stage(session: Session) -> bool:
    """What each layer alone does to the output -> sensitivity.json. Uses the calibration samples."""
    run = session.run
    split = data_stage(session, "calibration")

    def action(made: list[Path]) -> None:
        session.say("measuring the sensitivity of each layer")
        params: dict[str, Any] = {"samples": str(split.samples), "output": str(made[0])}
        params |= {"labels": str(split.labels)} if split.labels else {}
        session.evaluator.call("sensitivity", params, session.progress())

    inputs = [run.need(files.PREPARED, "prepare"), run.need(files.CALIBRATION, "calibrate"), split.samples]
    options = {"stage": "sensitivity"} | _evaluator_options(session)
    return run.stage([files.SENSITIVITY], inputs + ([split.labels] if split.labels else []), options, action)


def _evaluator_options(session: Session) -> dict[str, Any]:
    return {"conquer-eval": session.program("conquer-eval"), "profile": session.target.resolved}
