"""The report on a front: predicted beside measured, accuracy with interval, f32 and uniform i8 beside the policies."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

COLUMNS = ["policy", "layers", "predicted ms", "error", "measured ms (IQR)", "f32/this", "MB"]
WITH_LABELS = ["top-1 % (95 %)", "drop, points (95 %)"]
WITHOUT_LABELS = ["agreement % (95 %)", "SQNR dB (95 %)", "KL"]
NOTHING_FEASIBLE = "no policy meets the constraints; the last row comes nearest"
WIDTH = 160  # columns of a terminal that hold the table


def rows(
    points: dict[str, dict[str, Any]], measurement: dict[str, Any], evaluation: dict[str, Any], sizes: dict[str, int]
) -> list[dict[str, Any]]:
    """One row per policy; points, measurement and evaluation are in one order."""
    result = []
    for (name, point), timing, scores in zip(
        points.items(), measurement["modules"], evaluation["policies"], strict=True
    ):
        policy = point["policy"]
        guess = point.get("predicted", {}).get("latency_ms")
        result.append(
            {
                "name": name,
                "layers": dict(Counter(policy.values()).most_common()),
                "on_front": point.get("on_front", False),
                "predicted_latency_ms": guess,
                "prediction_error": None if guess is None else guess / timing["latency_ms"] - 1.0,
                "measured_latency_ms": timing["latency_ms"],
                "latency_ms_spread": timing["latency_ms_spread"],
                "speedup": 1.0 / timing["ratio_to_reference"],
                "size_bytes": sizes[name],
                **{field: value for field, value in scores.items() if field != "name"},
            }
        )
    return result


def columns(table_rows: list[dict[str, Any]]) -> list[str]:
    return COLUMNS + (WITH_LABELS if "top1" in table_rows[0] else WITHOUT_LABELS)


def cells(row: dict[str, Any]) -> list[str]:
    """A row as text, in the order of `columns`."""
    guess, error = row["predicted_latency_ms"], row["prediction_error"]
    figures = (
        [("top1", 100.0, ".2f"), ("accuracy_drop", 100.0, "+.2f")]
        if "top1" in row
        else [("agreement", 100.0, ".2f"), ("sqnr_db", 1.0, ".1f")]
    )
    return [
        row["name"] + (" *" if row["on_front"] else ""),
        " ".join(f"{count} {precision}" for precision, count in row["layers"].items()),
        "-" if guess is None else f"{guess:.3f}",
        "-" if error is None else f"{error:+.1%}",
        f"{row['measured_latency_ms']:.3f} ({row['latency_ms_spread']:.3f})",
        f"{row['speedup']:.2f}",
        f"{row['size_bytes'] / 1e6:.2f}",
        *(figure(row, name, factor, form) for name, factor, form in figures),
        *([] if "top1" in row else [f"{row['kl']:.4f}"]),
    ]


def figure(row: dict[str, Any], name: str, factor: float, form: str) -> str:
    """A value and, where there is one, its interval."""
    value = f"{row[name] * factor:{form}}"
    ends = row.get(f"{name}_interval")
    return f"{value} ({', '.join(f'{end * factor:{form}}' for end in ends)})" if ends else value


def summary(front: dict[str, Any] | None, measurement: dict[str, Any], evaluation: dict[str, Any]) -> list[str]:
    images = evaluation["policies"][0]["images"]
    lines = [
        f"Accuracy on {images} images of the {evaluation['split']} set of {evaluation['data']}.",
        f"Latency: device {measurement['device']}, {measurement['threads']} thread(s), median and interquartile range "
        f"of {measurement['rounds']} rounds interleaved with the f32 module: the ratio to it, times its latency at the "
        "start of the run.",
    ]
    if front:
        found = f"{len(front['points'])} policies (marked *)" if front["points"] else NOTHING_FEASIBLE
        lines.insert(0, f"Front after generation {front['generation'] + 1}: {found}.")
        volumes = front["hypervolume"], front["hypervolume_uniform"]
        lines.append("Hypervolume on the search set: front {:.4f}, uniform policies alone {:.4f}.".format(*volumes))
    return lines


def show(console: Console, table_rows: list[dict[str, Any]], lines: list[str]) -> None:
    """The report on a terminal."""
    table = Table(show_edge=False, pad_edge=False, box=None, padding=(0, 2, 0, 0))
    for number, title in enumerate(columns(table_rows)):
        table.add_column(title, justify="left" if number == 0 else "right", no_wrap=True)
    for row in table_rows:
        table.add_row(*cells(row), style="bold" if row["name"] in row["layers"] else "")
    console.print(table, highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True)


def markdown(table_rows: list[dict[str, Any]], lines: list[str]) -> str:
    """The report as a Markdown file."""
    titles = columns(table_rows)
    table = [titles, ["---"] + ["---:"] * (len(titles) - 1), *(cells(row) for row in table_rows)]
    return "\n".join([*("| " + " | ".join(line) + " |" for line in table), "", *lines, ""])
