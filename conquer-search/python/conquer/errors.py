"""A user's mistake as an exception: what went wrong, where, what was expected, what to do.

The same four fields as `support/Error.h`, so that a message reads the same from C++ and from Python.
"""

from __future__ import annotations

from typing import Any


class ConquerError(Exception):
    """One message for the user; the command line prints it and exits with a code other than 0."""

    def __init__(self, what: str, where: str = "", expected: str = "", fix: str = "") -> None:
        self.what, self.where, self.expected, self.fix = what, where, expected, fix
        super().__init__(self.message())

    def message(self) -> str:
        """`where: what; expected ...; fix` with empty parts left out."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.expected:
            text += f"; expected {self.expected}"
        if self.fix:
            text += f"; {self.fix}"
        return text

    def as_json(self) -> dict[str, str]:
        return {"what": self.what, "where": self.where, "expected": self.expected, "fix": self.fix}

    @classmethod
    def from_json(cls, error: Any, program: str) -> ConquerError:
        """The error object of a JSON-lines answer."""
        if not isinstance(error, dict) or not isinstance(error.get("what"), str):
            return cls(f"{program} answered an error without a text", expected="a field 'what'")
        return cls(*(str(error.get(field, "")) for field in ("what", "where", "expected", "fix")))


class StageFailure(ConquerError):
    """A compiler or device that failed on one candidate: costs the candidate, never the run."""
