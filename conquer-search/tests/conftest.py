"""Shared by the tests: stand-in programs for what a well-behaved program never does, and an isolated environment."""

from __future__ import annotations

import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conquer import tools

Script = Callable[[str, str], Path]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """`script(name, body)`: an executable Python program with that body."""

    def make(name: str, body: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable}\nimport json, os, sys, time\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return make


@pytest.fixture(autouse=True)
def forget_programs() -> None:
    """Where programs were found is remembered; a test may move them."""
    tools.find_program.cache_clear()
    tools.find_iree.cache_clear()
    tools.stopping.clear()
