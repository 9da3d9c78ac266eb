"""The JSON-lines client against programs that answer, dawdle, die, hang and talk nonsense."""

from __future__ import annotations

import sys

import pytest

from conftest import Script
from conquer.errors import ConquerError, StageFailure
from conquer.server import Server

ECHO = """
for line in sys.stdin:
    q = json.loads(line); m, p = q["method"], q["params"]
    def say(**x): print(json.dumps({"id": q["id"], **x}), flush=True)
    if m == "echo": say(ok=True, result=p)
    elif m == "slow":
        for i in range(3): say(progress={"stage": "s", "done": i, "total": 3})
        say(ok=True, result="done")
    elif m == "refuse": say(ok=False, error={"what": "bad thing", "where": "here", "expected": "good", "fix": "fix it"})
    elif m == "die": print("fatal error: out of ideas", file=sys.stderr); os._exit(9)
    elif m == "hang": time.sleep(60)
    elif m == "garbage": print("Segmentation", flush=True)
    elif m == "half": sys.stdout.write('{"id": '); sys.stdout.flush(); os._exit(0)
    elif m == "other": print(json.dumps({"id": 999, "ok": True, "result": 1}), flush=True)
    elif m == "textless": say(ok=False, error=7)
    elif m == "shutdown": say(ok=True, result={}); break
"""


def make(script: Script) -> Server:
    return Server([str(script("echo-server", ECHO))], seconds=10)


def test_answers_progress_and_errors(script: Script) -> None:
    with make(script) as server:
        assert server.call("echo", {"a": [1, "é"]}) == {"a": [1, "é"]}
        seen: list[tuple[str, int, int]] = []
        assert server.call("slow", None, lambda *part: seen.append(part)) == "done"
        assert seen == [("s", 0, 3), ("s", 1, 3), ("s", 2, 3)]
        with pytest.raises(ConquerError, match=r"^here: bad thing; expected good; fix it$") as error:
            server.call("refuse")
        assert not isinstance(error.value, StageFailure)
        with pytest.raises(ConquerError, match="without a text"):
            server.call("textless")
        assert server.call("echo", {"big": "x" * 5_000_000})["big"] == "x" * 5_000_000


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("die", "exit code 9 during 'die': fatal error: out of ideas"),
        ("half", "during 'half'"),
        ("hang", "gave no answer to 'hang' within 1 s"),
        ("garbage", "not JSON: Segmentation"),
        ("other", "a request that was not made"),
    ],
)
def test_a_failing_program_is_one_error_and_starts_again(script: Script, method: str, message: str) -> None:
    with make(script) as server:
        with pytest.raises(StageFailure, match=message):
            server.call(method, seconds=1)
        assert server.call("echo", {"again": 1}) == {"again": 1}


def test_a_program_that_cannot_live_is_one_error() -> None:
    server = Server([sys.executable, "-c", "raise SystemExit('error: no library')"])
    with server, pytest.raises(StageFailure, match="no library"):
        server.call("info")


def test_state_is_restored_after_a_restart(script: Script) -> None:
    opened = []
    server = Server([str(script("s", ECHO))], seconds=10, prepare=lambda s: opened.append(s.call("echo", {"open": 1})))
    with server, pytest.raises(StageFailure):
        server.call("die")
    with server:
        assert server.call("echo", {}) == {}
    assert opened == [{"open": 1}] * 2
