#!/usr/bin/env python3
"""Check that every #include points from a house to itself or to one it may know (docs/RATIONALE.md, "Houses").

Usage: check_direction.py [REPOSITORY]; prints each offending line and exits 1 if there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

# What each house may include besides itself. A folder that is not listed may include nothing of ours.
MAY_INCLUDE = {
    "support": set(),
    "hardware": {"support"},
    "conquer-opt/kernels": set(),
    "conquer-opt/IR": {"support", "hardware"},
}
MAY_INCLUDE["conquer-opt/Policy"] = MAY_INCLUDE["conquer-opt/IR"] | {"conquer-opt/IR"}
MAY_INCLUDE["conquer-opt/Calibration"] = MAY_INCLUDE["conquer-opt/Policy"]
MAY_INCLUDE["conquer-opt/Analysis"] = MAY_INCLUDE["conquer-opt/Policy"]
MAY_INCLUDE["conquer-opt/Transforms"] = MAY_INCLUDE["conquer-opt/Policy"] | {
    "conquer-opt/kernels",
    "conquer-opt/Policy",
    "conquer-opt/Calibration",
    "conquer-opt/Analysis",
}
MAY_INCLUDE["conquer-opt/Import"] = MAY_INCLUDE["conquer-opt/Transforms"]
MAY_INCLUDE["conquer-opt/Pipelines"] = MAY_INCLUDE["conquer-opt/Transforms"] | {"conquer-opt/Transforms"}
MAY_INCLUDE["conquer-opt/Evaluator"] = MAY_INCLUDE["conquer-opt/Pipelines"] | {"conquer-opt/Pipelines"}
MAY_INCLUDE["conquer-opt/tools"] = MAY_INCLUDE["conquer-opt/Evaluator"] | {
    "conquer-opt/Evaluator",
    "conquer-opt/Import",
}
MAY_INCLUDE["conquer-search"] = {"support", "hardware"}
MAY_INCLUDE["conquer-search/tools"] = {"support", "hardware", "conquer-search"}
MAY_INCLUDE["bench"] = {"support", "hardware", "conquer-opt/kernels"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
FOREIGN_TO_SEARCH = re.compile(r"^(llvm|mlir)/")


def house_of(path: str) -> str | None:
    """The house that a file or an included path lives in; None for what is not ours."""
    folder = str(Path(path).parent)
    while folder not in ("", "."):
        if folder in MAY_INCLUDE:
            return folder
        folder = str(Path(folder).parent)
    return None


def problems(root: Path) -> list[str]:
    tracked = subprocess.run(
        ["git", "ls-files", "*.h", "*.c", "*.cpp", "*.inl", "*.td"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = []
    for name in tracked:
        house = house_of(name)
        if house is None:
            found.append(f"{name}: lies in no house of scripts/check_direction.py")
            continue
        for number, line in enumerate((root / name).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = house_of(match[1])
            if target and target != house and target not in MAY_INCLUDE[house]:
                found.append(f"{name}:{number}: {house} may not include {match[1]}")
            if house.startswith("conquer-search") and FOREIGN_TO_SEARCH.match(match[1]):
                found.append(f"{name}:{number}: the search knows no LLVM, but includes {match[1]}")
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    found = problems(root)
    print("\n".join(found) if found else "directions of #include: fine")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
