"""The report on a front: predicted beside measured, accuracy with interval, f32 and uniform i8 beside the policies."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

COLUMNS = [
    *("policy", "i8 layers", "latency ms\npredicted", "error", "latency ms\nmeasured", "IQR", "against\nf32"),
    *("accuracy", "95 %", "drop, points", "95 %", "size MB"),
]


def rows(
    front: dict[str, Any],
    measurement: dict[str, Any],
    evaluation: dict[str, Any],
    policies: dict[str, dict[str, str]],
    sizes: dict[str, int],
) -> list[dict[str, Any]]:
    """One row per policy; measurement, evaluation and policies are in one order."""
    predicted = {point["key"]: point for point in front["points"]}
    result = []
    for (name, policy), timing, scores in zip(
        policies.items(), measurement["modules"], evaluation["policies"], strict=True
    ):
        point: dict[str, Any] = front.get("uniform", {}).get(name) or next(
            (p for key, p in predicted.items() if name.endswith(key[:8])), {}
        )
        guess = point.get("predicted", {}).get("latency_ms")
        result.append(
            {
                "name": name,
                "i8_layers": sum(precision != "f32" for precision in policy.values()),
                "layers": len(policy),
                "predicted_latency_ms": guess,
                "prediction_error": None if guess is None else guess / timing["median_ms"] - 1.0,
                "measured_latency_ms": timing["median_ms"],
                "latency_ms_spread": timing["spread_ms"],
                "speedup": 1.0 / timing["ratio_to_reference"],
                "size_bytes": sizes[name],
                **{field: value for field, value in scores.items() if field != "name"},
            }
        )
    return result


def cells(row: dict[str, Any]) -> list[str]:
    """A row as text, in the order of COLUMNS. Without labels accuracy is the agreement with f32."""
    labelled = "top1" in row
    accuracy = row["top1"] if labelled else row["agreement"]
    loss = row["accuracy_drop"] if labelled else 1.0 - row["agreement"]
    return [
        row["name"],
        f"{row['i8_layers']} of {row['layers']}",
        "-" if row["predicted_latency_ms"] is None else f"{row['predicted_latency_ms']:.3f}",
        "-" if row["prediction_error"] is None else f"{row['prediction_error']:+.1%}",
        f"{row['measured_latency_ms']:.3f}",
        f"{row['latency_ms_spread']:.3f}",
        f"{row['speedup']:.2f}x",
        f"{accuracy:.2%}",
        interval(row.get("top1_interval"), "{:.2f}"),
        f"{loss * 100:+.2f}",
        interval(row.get("accuracy_drop_interval"), "{:+.2f}"),
        f"{row['size_bytes'] / 1e6:.2f}",
    ]


def interval(ends: list[float] | None, form: str) -> str:
    return " to ".join(form.format(100.0 * end) for end in ends) if ends else "-"


def summary(front: dict[str, Any], measurement: dict[str, Any], evaluation: dict[str, Any]) -> list[str]:
    images = evaluation["policies"][0]["images"]
    lines = [
        f"Accuracy on {images} images of the {evaluation['split']} set of {evaluation['data']}.",
        f"Latency: device {measurement['device']}, {measurement['threads']} thread(s), median and interquartile range "
        f"of {measurement['rounds']} rounds interleaved with the f32 module.",
    ]
    if front["points"]:
        lines.insert(0, f"Front after generation {front['generation']}: {len(front['points'])} policies.")
        volumes = front["hypervolume"], front["hypervolume_uniform"]
        lines.append("Hypervolume on the search set: front {:.4f}, uniform policies alone {:.4f}.".format(*volumes))
    return lines


def show(console: Console, table_rows: list[dict[str, Any]], lines: list[str]) -> None:
    """The report on a terminal."""
    table = Table(show_edge=False, pad_edge=False)
    for number, title in enumerate(COLUMNS):
        table.add_column(title, justify="left" if number == 0 else "right", no_wrap=True)
    for row in table_rows:
        table.add_row(*cells(row), style="bold" if row["name"] in ("f32", "i8") else "")
    console.print(table)
    for line in lines:
        console.print(line, soft_wrap=True)


def markdown(table_rows: list[dict[str, Any]], lines: list[str]) -> str:
    """The report as a Markdown file."""
    head = [title.replace("\n", " ") for title in COLUMNS]
    table = [head, ["---"] + ["---:"] * (len(head) - 1), *(cells(row) for row in table_rows)]
    return "\n".join([*("| " + " | ".join(line) + " |" for line in table), "", *lines, ""])
