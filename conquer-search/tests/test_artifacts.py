"""The run folder: stamps, atomic writes, the lock."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from conquer.artifacts import Run, digest, read_json, scratch, write_json, write_text
from conquer.errors import ConquerError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run(tmp_path / "run", create=True)
    run.remember(profile="host")
    run.keep()
    return run


def test_settings_are_kept_once_a_stage_succeeded(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("1")
    run.remember(data="wrong")
    with pytest.raises(ConquerError, match="nothing was written"):
        run.stage(["out.json"], [source], {}, lambda made: None)
    assert "data" not in read_json(run / "run.json")
    run.remember(data="right")
    assert counted(run, source, {})
    assert read_json(run / "run.json")["data"] == "right"


def test_keys_occur_once(tmp_path: Path) -> None:
    (tmp_path / "twice.json").write_text('{"a": 1, "b": {"c": 1, "c": 2}}')
    with pytest.raises(ConquerError, match="'c' occurs twice"):
        read_json(tmp_path / "twice.json")


def counted(run: Run, source: Path, options: dict[str, object], text: str = "made") -> bool:
    return run.stage(["out.json"], [source], options, lambda made: made[0].write_text(text) and None)


def test_stage_runs_once_and_again_when_anything_changes(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("1")
    assert counted(run, source, {"a": 1})
    assert not counted(run, source, {"a": 1})
    assert counted(run, source, {"a": 2})
    source.write_text("2")
    assert counted(run, source, {"a": 2})
    (run / "out.json").write_text("touched by hand")
    assert counted(run, source, {"a": 2})
    (run / "out.json").unlink()
    assert counted(run, source, {"a": 2})
    (run / "out.json.stamp.json").write_text("{broken")
    assert counted(run, source, {"a": 2})
    assert not counted(run, source, {"a": 2})


def test_a_failing_stage_leaves_the_earlier_result(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("1")
    counted(run, source, {}, "good")

    def fail(made: list[Path]) -> None:
        made[0].write_text("half")
        raise ConquerError("broken")

    with pytest.raises(ConquerError, match="broken"):
        run.stage(["out.json"], [source], {"new": 1}, fail)
    assert (run / "out.json").read_text() == "good"
    assert not counted(run, source, {}, "good")
    with pytest.raises(ConquerError, match=r"nothing was written for out\.json"):
        run.stage(["out.json"], [source], {"new": 1}, lambda made: None)
    assert not list(run.folder.glob(".work*"))


def test_missing_input(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ConquerError, match="nothing-there: no such file"):
        counted(run, tmp_path / "nothing-there", {})


def test_second_command_on_a_folder_is_refused(run: Run) -> None:
    code = (
        f"from pathlib import Path; from conquer.artifacts import Run; from conquer.errors import ConquerError\n"
        f"try: Run(Path({str(run.folder)!r}))\nexcept ConquerError as e: print(e.message())"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "another conquer command works on this folder" in answer
    run.close()
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == ""


def test_left_over_temporaries_are_removed(run: Run) -> None:
    run.close()
    (run / ".work.x.tmp").mkdir()
    (run / ".front.json.y.tmp").write_text("half")
    again = Run(run.folder)
    assert sorted(path.name for path in again.folder.iterdir()) == [".lock", "run.json"]


def test_not_a_run_folder(tmp_path: Path) -> None:
    with pytest.raises(ConquerError, match="not a run folder"):
        Run(tmp_path)


def test_json_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    with pytest.raises(ConquerError, match="no such file"):
        read_json(path)
    path.write_text('{"format": "conquer.front", "version": 2}')
    with pytest.raises(ConquerError, match="unexpected format"):
        read_json(path, "conquer.front")
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(ConquerError, match="expected a JSON file"):
        read_json(path)
    write_json(path, {"format": "conquer.front", "version": 1})
    assert read_json(path, "conquer.front")["version"] == 1


def test_failed_write_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_text(path, "good")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"x": float("nan")})
    assert path.read_text() == "good" and len(list(tmp_path.iterdir())) == 1


def test_digest_does_not_depend_on_order() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1}) != digest({"a": 1, "b": [3]})


def test_scratch_lies_in_its_parent_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = tempfile.mkdtemp
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **options: os.path.abspath(made(**options)))
    (tmp_path / "run").mkdir()
    with scratch(Path("run")) as folder:
        assert folder.parent == Path("run") and folder.is_dir()
    assert not folder.exists()
