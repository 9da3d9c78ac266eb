#!/usr/bin/env python3
"""Count the source lines without tests by language: how much of CONQuER is C, C++ and TableGen?

Usage: language_share.py [REPOSITORY]. Lines that are blank or only a comment do not count.
"""

from __future__ import annotations

import collections
import subprocess
import sys
from pathlib import Path

LANGUAGES = {
    ".c": "C",
    ".inl": "C",
    ".h": "C++",
    ".cpp": "C++",
    ".td": "TableGen",
    ".py": "Python",
    ".sh": "Shell",
}
COMPILED = {"C", "C++", "TableGen"}
TESTS = ("/test/", "/tests/", "Test.cpp", "_test.cpp", "conftest.py")


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
    lines: collections.Counter[str] = collections.Counter()
    for name in tracked.splitlines():
        language = LANGUAGES.get(Path(name).suffix)
        if language is None or any(mark in "/" + name for mark in TESTS):
            continue
        for line in (root / name).read_text().splitlines():
            text = line.strip()
            if text and not text.startswith(("//", "#!", "# ")) and text != "#":
                lines[language] += 1
    total = sum(lines.values())
    for language, count in lines.most_common():
        print(f"{language:9} {count:6} lines  {count / total:6.1%}")
    share = sum(lines[language] for language in COMPILED) / total
    print(f"C, C++ and TableGen: {share:.1%} of {total} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
