"""Running programs: limits, process groups, bounded output, one message."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from conftest import Script
from conquer import tools
from conquer.errors import ConquerError, StageFailure

FORK = "import subprocess; p = subprocess.Popen(['sleep', '60']); open(sys.argv[1], 'w').write(str(p.pid)); "


def alive(pid: int) -> bool:
    """A process that runs; one that ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] != "Z"
    except FileNotFoundError:
        return False


def test_output_and_command_are_kept(script: Script) -> None:
    command = [str(script("hello", "print('out'); print('err', file=sys.stderr)")), "a b"]
    done = tools.run(command)
    assert (done.stdout, done.stderr, done.command) == ("out\n", "err\n", command)


def test_timeout_kills_the_whole_group(script: Script, tmp_path: Path) -> None:
    body = FORK + "time.sleep(60)"
    child, begin = tmp_path / "child", time.monotonic()
    with pytest.raises(StageFailure, match="did not end within 1 s"):
        tools.run([str(script("hang", body)), str(child)], tools.Limits(seconds=1))
    assert time.monotonic() - begin < 5
    time.sleep(0.1)
    assert not alive(int(child.read_text()))


def test_children_left_behind_are_killed(script: Script, tmp_path: Path) -> None:
    child = tmp_path / "child"
    tools.run([str(script("leaver", FORK)), str(child)])
    time.sleep(0.1)
    assert not alive(int(child.read_text()))


def test_memory_limit(script: Script) -> None:
    program = str(script("eater", "x = bytearray(2 << 30); print(len(x))"))
    assert tools.run([program], tools.Limits(memory=8 << 30)).stdout == f"{2 << 30}\n"
    with pytest.raises(StageFailure, match="MemoryError"):
        tools.run([program], tools.Limits(memory=1 << 30))


def test_flood_of_errors_is_bounded_and_the_first_error_kept_when_short(script: Script) -> None:
    flood = str(
        script("flood", "sys.stderr.write('x' * 79 + '\\n' * 1); sys.stderr.write(('y' * 79 + '\\n') * 1000000)")
    )
    done = tools.run([flood])
    assert len(done.stderr) == tools.HEAD_BYTES + tools.TAIL_BYTES and done.stderr.startswith("x")
    wrong = str(script("wrong", "print('a.mlir:3:4: error: bad op\\nnote: see this', file=sys.stderr); sys.exit(3)"))
    with pytest.raises(StageFailure, match=r"ended with exit code 3: a\.mlir:3:4: error: bad op$"):
        tools.run([wrong])


def test_signal_is_named(script: Script) -> None:
    with pytest.raises(StageFailure, match="signal 11"):
        tools.run([str(script("crash", "os.kill(os.getpid(), 11)"))])


def test_missing_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConquerError, match="cannot start"):
        tools.run([str(tmp_path / "none")])
    monkeypatch.setenv("CONQUER_BIN", str(tmp_path))
    with pytest.raises(ConquerError, match="cannot find the program conquer-opt"):
        tools.find_program("conquer-opt")


def test_kill_all_ends_what_runs(script: Script) -> None:
    process = tools.start([str(script("sleeper", "time.sleep(60)"))])
    assert alive(process.pid)
    tools.kill_all()
    assert process.wait(5) == -9
    with pytest.raises(StageFailure, match="the command is ending"):
        tools.start([str(script("late", "time.sleep(60)"))])


def test_digest_follows_the_content(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1")
    first = tools.file_digest(path)
    path.write_bytes(b"2")
    os.utime(path, ns=(1, 1))
    assert tools.file_digest(path) != first
