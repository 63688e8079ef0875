"""Studies to draw, and the texts of a picture."""

from __future__ import annotations

import random
from functools import cache
from xml.etree import ElementTree as ET

from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import (
    Judged,
    comparison_report,
    run,
)
from webapp.exporters.comparisons.charts import canvas
from webapp.metrics.comparisons.comparisons import ComparisonReport

SVG = "{http://www.w3.org/2000/svg}"
LONG = (
    "hybrid 60/40 with reranking and query rewriting · GPT-4o-mini (2024-07-18)",
    '<script>alert("1")</script> & co\x07',
    "W" * 40,
    "混合検索",
    "a",
    "b",
)


def parsed(markup: str) -> ET.Element:
    """The picture as a tree of elements."""
    return ET.fromstring(markup)


def texts(svg: ET.Element) -> list[ET.Element]:
    """Every text element of a picture."""
    return list(svg.iter(f"{SVG}text"))


def said(svg: ET.Element) -> list[str]:
    """The words of a picture, text by text."""
    return [text.text or "" for text in texts(svg)]


def box(text: ET.Element) -> tuple[float, float, float, float]:
    """The left, right, top and bottom of a text at the widest a font may run."""
    size, x, y = (float(text.get(name, "0")) for name in ("font-size", "x", "y"))
    wide = canvas.width(text.text or "", size)
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[text.get("text-anchor", "start")]
    return left, left + wide, y - 0.8 * size, y + 0.2 * size


@cache
def study(asked: int, names: tuple[str, ...] = ("hybrid", "api_only")) -> ComparisonReport:
    """Runs of so many made-up questions in 12 categories with long names."""
    draw = random.Random(1)
    runs = []
    for number, name in enumerate(names):
        judged: list[Judged] = [
            "".join(draw.choice("RRN") for _ in range(draw.randint(1, 10))) for _ in range(asked)
        ]
        one = run(f"r{number}", *judged, name=name)
        renamed = tuple(
            replace(
                q,
                category=f"a category of a very long name, number {q.position % 12}",
                question="Is there a house for sale near the campus with three bedrooms? " * 2,
            )
            for q in one.queries
        )
        runs.append(replace(one, queries=renamed))
    return comparison_report(runs)
