"""The whole way with the real programs on a small network: a run, its files, its reruns, its interruptions."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny
from conquer import tools
from conquer.errors import ConquerError

try:
    for program in tools.PROGRAMS:
        tools.find_program(program)
except ConquerError as error:
    pytest.skip(f"the programs are not built: {error}", allow_module_level=True)

VERBS = ["import", "prepare", "calibrate", "sensitivity", "search", "compile", "measure", "evaluate", "doctor", "run"]
SIZE = ["--generations", "3", "--population", "4", "--offspring-factor", "4"]


def conquer(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conquer", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, timeout=300, check=False
    )


def failure(done: subprocess.CompletedProcess[str]) -> str:
    """The one message of a command that must have failed."""
    assert done.returncode == 1, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    messages = [line for line in done.stderr.splitlines() if line.startswith("conquer: ")]
    assert len(messages) == 1, done.stderr
    return messages[0]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return tiny.write(tmp_path_factory.mktemp("source with space"))


@pytest.fixture(scope="module")
def finished(source: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; tests that change it copy it first."""
    out = tmp_path_factory.mktemp("runs with space") / "tiny"
    done = conquer("run", source[0], "--data", source[1], "--out", out, *SIZE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Front after generation" in done.stdout and "Hypervolume" in done.stdout
    return out


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run", symlinks=True))


def test_files_of_a_run(finished: Path) -> None:
    front, layers = tiny.load(finished / "front.json"), tiny.load(finished / "layers.json")
    assert len(layers["layers"]) == 4 and len(front["points"]) >= 1
    measurement, evaluation = tiny.load(finished / "measurement.json"), tiny.load(finished / "evaluation.json")
    assert len(measurement["modules"]) == len(evaluation["policies"]) >= 2
    assert [row["name"] for row in evaluation["policies"][:4]] == ["f32", "bf16", "i8", "w4a8"]
    assert evaluation["split"] == "report" and evaluation["policies"][0]["images"] == 80
    assert evaluation["policies"][0]["accuracy_drop"] == 0
    for row in measurement["modules"]:
        note = tiny.load(finished / Path(row["module"]).with_name("module.json"))
        assert note["bytes"] == (finished / row["module"]).stat().st_size
        assert note["checked_images"] == 4
        if set(note["policy"].values()) <= {"i8", "w4a8"}:
            assert note["identical"] and note["max_abs_difference"] == 0
    assert (finished / "report.md").read_text().startswith("| policy |")
    table = tiny.load(finished / "latency_table.json")
    assert {layer["signature"] for layer in layers["layers"]} <= set(table["layers"])
    assert not list(finished.glob(".work*"))


def archive_of(run: Path) -> Path:
    """The archive in use."""
    return run / tiny.load(run / "search.json")["archive"]


def evaluations(run: Path) -> list[Any]:
    """What the archive was told, in order."""
    with contextlib.closing(sqlite3.connect(archive_of(run))) as archive:
        return archive.execute(
            "select key, failure from candidates where told = 1 order by generation, position"
        ).fetchall()


def changed(folder: Path, before: float) -> set[str]:
    return {
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime > before
    }


def test_rerun_is_free(run: Path, source: tuple[Path, Path]) -> None:
    before = time.time()
    done = conquer("run", source[0], "--data", source[1], "--out", run, *SIZE)
    assert done.returncode == 0, done.stderr
    new = {name for name in changed(run, before) if not name.startswith(("search-", ".lock"))}
    assert new <= {"front.json", "evaluation.json", "report.md"}


def test_a_change_is_never_stale(run: Path, source: tuple[Path, Path]) -> None:
    before = time.time()
    assert conquer("calibrate", run, "--method", "minmax").returncode == 0
    assert "calibration.json" in changed(run, before)
    assert "the archive is of other inputs" in failure(conquer("evaluate", run, "--gens", "1"))
    done = conquer("run", source[0], "--data", source[1], "--out", run, *SIZE, "--method", "minmax")
    assert done.returncode == 0, done.stderr
    assert len(list(run.glob("search-*.sqlite"))) == 2, "the archive of the other calibration is kept"


def test_what_is_refused_changes_nothing(run: Path, source: tuple[Path, Path], tmp_path: Path) -> None:
    shutil.copytree(source[1], tmp_path / "nan")
    np.save(tmp_path / "nan" / "report.npy", np.full((80, 2, 9, 7), np.nan, np.float32))
    before = {name: (run / name).read_bytes() for name in ("front.json", "search.json", "run.json", "report.md")}
    for arguments in (
        ["search", run, "--pin", "nosuch=i8"],
        ["search", run, "--max-latency", "-1"],
        ["search", run, "--max-latency", "nan"],
        ["search", run, "--population", "1000000000"],
        ["measure", run, "--threads", "99"],
        ["evaluate", run, "--data", tmp_path / "nan"],
        ["evaluate", run, "--gens", "99"],
    ):
        failure(conquer(*arguments))
        assert {name: (run / name).read_bytes() for name in before} == before, arguments
    assert conquer("evaluate", run).returncode == 0


def test_threads_of_measure_are_for_once(run: Path) -> None:
    before = tiny.load(run / "run.json")
    done = conquer("measure", run, "--threads", "2")
    assert done.returncode == 0, done.stderr
    assert tiny.load(run / "measurement.json")["threads"] == 2
    after = tiny.load(run / "run.json")
    assert len(after.pop("references")) == 2 and before.pop("references") and after == before
    assert conquer("evaluate", run).returncode == 0
    assert tiny.load(run / "measurement.json")["threads"] == 1


def test_a_policy_without_a_module_is_left_out(source: tuple[Path, Path], tmp_path: Path) -> None:
    """A compiler that fails on whatever network holds bf16."""
    fake = tmp_path / "iree-compile"
    fake.write_text(
        "#!/bin/sh\nfor a; do case $a in *lowered.mlirbc) "
        "grep -q bf16 $(dirname $a)/policy.json && echo 'x: error: no bf16' >&2 && exit 1;; esac; done\n"
        f'exec {tools.find_iree("iree-compile")} "$@"\n'
    )
    fake.chmod(0o755)
    size = ["--generations", "1", "--population", "4"]
    command = ["run", source[0], "--data", source[1], "--out", tmp_path / "run", *size]
    done = conquer(*command, CONQUER_IREE_COMPILE=str(fake))
    assert done.returncode == 0, done.stderr
    assert "left out: policy bf16" in done.stdout and "no bf16" in done.stdout
    assert "bf16" not in [row["name"] for row in tiny.load(tmp_path / "run" / "evaluation.json")["policies"]]
    note = conquer("evaluate", tmp_path / "run")  # with another compiler
    assert note.returncode == 0 and "the front is of other inputs, options or programs" in note.stdout


def test_a_full_disk_is_no_fault_of_a_candidate(source: tuple[Path, Path], finished: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(finished, tmp_path / "run"))
    shutil.rmtree(out / "modules")
    fake = tmp_path / "iree-compile"
    fake.write_text("#!/bin/sh\necho 'x: error: No space left on device' >&2\nexit 1\n")
    fake.chmod(0o755)
    told = evaluations(out)
    message = failure(conquer("search", out, "--generations", "9", CONQUER_IREE_COMPILE=str(fake)))
    assert "No space left on device" in message
    assert evaluations(out) == told


def test_an_archive_comes_back_with_its_options(run: Path) -> None:
    mine, name = archive_of(run).read_bytes(), archive_of(run).name
    assert conquer("search", run, "--seed", "7").returncode == 0
    assert archive_of(run).name != name and (run / name).read_bytes() == mine
    done = conquer("search", run, "--seed", "1")
    assert done.returncode == 0, done.stderr
    assert archive_of(run).name == name and (run / name).read_bytes() == mine


def test_front_history(run: Path) -> None:
    sizes = []
    for generation in ("1", "3"):
        done = conquer("evaluate", run, "--gens", generation, "--json")
        assert done.returncode == 0, done.stderr
        sizes.append(len(tiny.load(run / f"evaluation.gen{generation}.json")["policies"]))
    assert min(sizes) >= 2
    assert (run / "evaluation.gen3.json").read_text() == (run / "evaluation.json").read_text()
    assert "generation" in failure(conquer("evaluate", run, "--gens", "9"))


def test_constraints(run: Path) -> None:
    layers = [layer["id"] for layer in tiny.load(run / "layers.json")["layers"]]
    done = conquer("search", run, "--pin", f"{layers[0]}=f32", "--max-accuracy-drop", "0.5")
    assert done.returncode == 0, done.stderr
    points = tiny.load(run / "front.json")["points"]
    assert points and all(point["policy"][layers[0]] == "f32" for point in points)
    assert conquer("search", run, "--max-size", "1").returncode == 0
    front = tiny.load(run / "front.json")
    assert front["points"] == [] and front["least_violating"]["measured"]["size_bytes"] > 1
    done = conquer("evaluate", run)
    assert done.returncode == 0 and "no policy meets the constraints" in done.stdout
    assert "--pin: 'x'" in failure(conquer("search", run, "--pin", "x"))
    assert "unknown layer" in failure(conquer("search", run, "--pin", "x=f32"))


def first_generation(run: Path) -> list[str]:
    """The policies that the first generation asked for, from the archive."""
    with contextlib.closing(sqlite3.connect(archive_of(run))) as archive:
        return [row[0] for row in archive.execute("select key from candidates where generation = 0 order by position")]


def test_same_seed_same_first_generation(finished: Path, source: tuple[Path, Path], tmp_path: Path) -> None:
    """Proposals depend on the seed and the told values; the first generation on the seed and the tables alone."""
    out = tmp_path / "again"
    shutil.copytree(finished, out)
    for path in out.glob("search-*.sqlite*"):
        path.unlink()
    done = conquer("search", out, "--generations", "1", "--population", "4")
    assert done.returncode == 0, done.stderr
    old, new = first_generation(finished), first_generation(out)
    assert old == new and len(old) >= 4


def test_kill_and_go_on(source: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "killed"
    command = [
        sys.executable,
        "-m",
        "conquer",
        "run",
        str(source[0]),
        "--data",
        str(source[1]),
        "--out",
        str(out),
        *SIZE,
    ]
    for wait in (1.0, 3.0, 5.0):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(tiny.load(out / "front.json")["points"]) >= 1


def test_interrupt(source: tuple[Path, Path], tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "conquer",
        "run",
        str(source[0]),
        "--data",
        str(source[1]),
        "--out",
        str(tmp_path / "r"),
        *SIZE,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(3.0)
    again = conquer(*command[3:])
    assert "another conquer command works on this folder" in failure(again)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "conquer: interrupted; the same command goes on where it stopped"
    assert "Traceback" not in errors


def test_interrupt_ends_a_hanging_compiler(run: Path, script: Any, tmp_path: Path) -> None:
    compiler = script("iree-compile", f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(100)")
    command = [sys.executable, "-m", "conquer", "compile", str(run)]
    environment = os.environ | {"CONQUER_IREE_COMPILE": str(compiler)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and "interrupted" in errors
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text()}").exists()


def test_modules_of_a_policy(run: Path, tmp_path: Path) -> None:
    layers = tiny.load(run / "layers.json")["layers"]
    policy = {layer["id"]: "i8" if number % 2 else "f32" for number, layer in enumerate(layers)}
    path = tmp_path / "mixed.json"
    path.write_text(json.dumps({"format": "conquer.policy", "version": 1, "layers": policy}))
    done = conquer("compile", run, "--policy", path, "--keep-ir", "--json")
    assert done.returncode == 0, done.stderr
    module = json.loads(done.stdout)["modules"][0]
    assert module["policy"] == policy
    assert "module" in Path(module["vmfb"]).with_name("lowered.mlir").read_text()
    measured = conquer("measure", run, "--policy", path)
    assert measured.returncode == 0 and "mixed: " in measured.stdout
    evaluated = conquer("evaluate", run, "--policy", path, "--split", "search")
    assert evaluated.returncode == 0 and "mixed" in evaluated.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nowhere": "i8"}, "unknown layer 'nowhere'"),
        ({"LAYER": "i3"}, "precision 'i3' is not allowed"),
        ({"LAYER": None}, "has no precision"),
    ],
)
def test_wrong_policies(finished: Path, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    layers = tiny.load(finished / "layers.json")["layers"]
    policy = {layer["id"]: "f32" for layer in layers}
    for name, value in change.items():
        name = layers[1]["id"] if name == "LAYER" else name
        policy = {key: old for key, old in policy.items() if key != name} | ({name: value} if value else {})
    path = tmp_path / "policy.json"
    path.write_text(json.dumps({"format": "conquer.policy", "version": 1, "layers": policy}))
    assert message in failure(conquer("compile", finished, "--policy", path))


def test_two_policies_of_one_name(finished: Path, tmp_path: Path) -> None:
    policy = finished / "policies" / "i8.json"
    other = Path(shutil.copy(policy, tmp_path / "i8.json"))
    assert "two policies are called 'i8'" in failure(
        conquer("compile", finished, "--policy", policy, "--policy", other)
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("os.kill(os.getpid(), 11)", "signal 11"),
        ("time.sleep(100)", "did not end within 2 s"),
        ("pass", "wrote no module"),
        ("open(sys.argv[-1], 'wb').write(b'nonsense')", "policy f32: "),
        ("print('x.mlir:1:1: error: no can do', file=sys.stderr); sys.exit(1)", "error: no can do"),
    ],
)
def test_failing_compilers_leave_earlier_results(run: Path, script: Any, body: str, message: str) -> None:
    modules = sorted(path for path in (run / "modules").iterdir())
    compiler = script("iree-compile", body)
    done = conquer("compile", run, "--compile-seconds", "2", CONQUER_IREE_COMPILE=str(compiler))
    assert message in failure(done)
    assert sorted(path for path in (run / "modules").iterdir()) == modules
    assert conquer("compile", run).returncode == 0


def test_wrong_models(tmp_path: Path) -> None:
    from onnx import helper

    def attempt(content: bytes) -> str:
        model = tmp_path / "model.onnx"
        model.write_bytes(content)
        message = failure(conquer("import", model, "--out", tmp_path / "run"))
        assert not (tmp_path / "run" / "model.tosa.mlir").exists()
        return message

    assert "no such file" in failure(conquer("import", tmp_path / "none.onnx", "--out", tmp_path / "run"))
    whole = tiny.network().SerializeToString()
    assert "model.onnx" in attempt(whole[: len(whole) // 2])
    assert "model.onnx" in attempt(b"")
    strange = tiny.network([helper.make_node("Det", ["fc"], ["logits"], name="strange")])
    assert "Det" in attempt(strange.SerializeToString())
    dynamic = tiny.network(shape=[1, 2, "height", 7])
    assert "height" in attempt(dynamic.SerializeToString())


@pytest.mark.parametrize("kind", ["empty", "nan", "shape", "missing"])
def test_wrong_samples(run: Path, source: tuple[Path, Path], tmp_path: Path, kind: str) -> None:
    data = Path(shutil.copytree(source[1], tmp_path / "data"))
    samples = np.load(data / "calibration.npy")
    path = data / "calibration.npy"
    if kind == "missing":
        path.unlink()
    else:
        wrong = {"empty": samples[:0], "nan": np.where(samples > 2, np.nan, samples), "shape": samples[:, :, :4]}[kind]
        np.save(path, wrong.astype(np.float32))
    before = (run / "calibration.json").read_bytes()
    message = failure(conquer("calibrate", run, "--data", data))
    assert {"empty": "no samples", "nan": "NaN", "shape": "shape", "missing": "missing"}[kind] in message
    assert (run / "calibration.json").read_bytes() == before


def test_wrong_profile(run: Path, tmp_path: Path) -> None:
    profile = json.loads((tools.data_folder() / "profiles" / "x86-64.json").read_text())
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(profile | {"threads": "two"}))
    assert "threads" in failure(conquer("prepare", run, "--profile", path))
    path.write_text(json.dumps(profile | {"colour": "blue"}))
    assert "colour" in failure(conquer("prepare", run, "--profile", path))
    assert "no-such-profile" in failure(conquer("prepare", run, "--profile", "no-such-profile"))
    assert (run / "prepared.mlir").is_file()


def test_verbs_in_the_wrong_order(tmp_path: Path, source: tuple[Path, Path]) -> None:
    out = tmp_path / "run"
    assert "not a run folder" in failure(conquer("prepare", out))
    assert conquer("import", source[0], "--out", out).returncode == 0
    assert "no data set" in failure(conquer("calibrate", out))
    assert "run 'conquer prepare' first" in failure(conquer("calibrate", out, "--data", source[1]))
    assert conquer("prepare", out).returncode == 0
    assert "run 'conquer calibrate' first" in failure(conquer("sensitivity", out, "--data", source[1]))


def test_json_errors_and_help(tmp_path: Path) -> None:
    done = conquer("prepare", tmp_path / "none", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["error"]["what"] == "not a run folder"
    for verb in [
        "import",
        "prepare",
        "calibrate",
        "sensitivity",
        "search",
        "compile",
        "measure",
        "evaluate",
        "doctor",
        "run",
    ]:
        page = conquer(verb, "--help")
        assert page.returncode == 0 and f"Example: conquer {verb}" in page.stdout, page.stdout
    assert conquer("search").returncode == 2
    doctor = conquer("doctor", "--json")
    assert doctor.returncode == 0 and json.loads(doctor.stdout)["findings"]
