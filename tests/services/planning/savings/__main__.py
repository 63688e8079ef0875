"""Replay the demo's finished ratings and write docs/planning.md, for ``nox -s savings``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from sqlalchemy.orm import Session

from tests.services.planning.savings.replays import (
    ReplayedRating,
    at_random,
    by_effect,
    in_file_order,
    replay,
)
from webapp.config import resource, sqlite_url
from webapp.db.engine import Database
from webapp.db.tables.runs import Run
from webapp.exporters.comparisons.charts.canvas import PRINT, WIDE, Canvas
from webapp.exporters.comparisons.words import figure_name
from webapp.i18n import speaking
from webapp.metrics.planning.bounds import BOUNDED, OPEN
from webapp.services.planning import pooled_lists
from webapp.services.runs import reports, samples
from webapp.services.runs import runs as order
from webapp.services.study import studies

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "docs" / "planning.md"
PICTURE = ROOT / "docs" / "screenshots" / "planning-savings.svg"
DRAWS = 50
"""So many seeded orders are drawn, at random and for the ties by effect."""
PANEL, HEIGHT, LEFT = 190.0, 120.0, 44.0
SHARES = (0.25, 0.5, 0.75, 0.9)
WAYS = ("by effect", "at random", "in file order")
NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Replays:
    """The replays of one comparison in each way: its name, runs and questions."""

    name: str
    runs: int
    questions: int
    total: int
    by_way: dict[str, list[ReplayedRating]]

    def after(self, way: str, figure: str | None = None) -> float:
        """Return the mean number of judgments until a figure's orders, or all, are settled."""
        found = self.by_way[way]
        return fmean(one.settled_after[figure] if figure else one.all_after for one in found)

    def settled_at(self, way: str, share: float) -> float:
        """Return the mean share of orders that are settled after a share of the judgments."""
        found = self.by_way[way]
        return fmean(
            1 - [still for judged, still in one.steps if judged <= share * one.total][-1]
            for one in found
        )


def main() -> None:
    """Write the page and its picture."""
    with TemporaryDirectory() as folder:
        database = Database(sqlite_url(Path(folder) / "demo.sqlite"))
        database.prepare()
        with database.writing() as session, speaking("en"):
            study = samples.load_demo(session, resource("seeds"), NOW)
            rater = studies.raters(session, study)[0]
            runs = order.in_order(session, study)
            found = [
                _replayed(session, name, [run for run in runs if wanted(run)], rater.name)
                for name, wanted in (
                    ("Three search methods, one LLM", lambda run: run.llm == "openai"),
                    ("Three LLMs, one search method", lambda run: run.search_method == "hybrid"),
                    ("All six runs", lambda _run: True),
                )
            ]
            PAGE.write_text(_page(found), encoding="utf-8")
            PICTURE.write_text(_picture(found), encoding="utf-8")
        database.close()


def _replayed(session: Session, name: str, runs: Sequence[Run], rater: str) -> Replays:
    """Return the replays of some runs: of the questions that the rater judged to the end."""
    study = studies.open_or_make(session, NOW)
    pooled = pooled_lists.pooled_set(session, study, [run.id for run in runs])
    rule = reports.rule_of(session, study, f"rater {rater}")
    said = pooled_lists.states(session, study, pooled, rule)
    rated = ~(said == OPEN).any(axis=1)
    lists, complete = pooled.lists.of(rated), said[rated]
    by_way = {
        WAYS[0]: [replay(lists, complete, by_effect(seed)) for seed in range(DRAWS)],
        WAYS[1]: [replay(lists, complete, at_random(seed)) for seed in range(DRAWS)],
        WAYS[2]: [replay(lists, complete, in_file_order)],
    }
    return Replays(name, len(runs), int(rated.sum()), by_way[WAYS[2]][0].total, by_way)


BEFORE = """\
# Judgments that rating by effect saves

Made by `nox -s savings`, which replays the finished ratings of the demo's study, with the verdicts
that its first rater gave, in three orders of the questions. Counted are the judgments (distinct
cards and empty lists) until every order of the runs is settled, that is, until no verdict that is
still open could change which of two runs is ahead in a figure. By effect and at random are means of
{draws} draws, with the seeds 0 to {last}.

![Share of orders settled, by the share of judgments given](screenshots/planning-savings.svg)
"""
AFTER = """
"Saved" is the share of all judgments that were not needed for the orders. Only the orders are
settled: the size of a difference, its interval and its test still move with the rest. Two runs that
are equal or nearly so stay open until almost everything is judged, in whichever order the questions
come; the more pairs are compared, the likelier is one of that kind. Rating by effect then changes
how early the others are settled.

In a study that leaves out a card judged "cannot tell", it moves the denominators, which the
bounds do not foresee; the last line of each part counts the replays in which no order that was
settled became another one. [Decision 0030](decisions/0030-settled-orders-and-rating-by-effect.md)
says how the bounds are worked out.
"""


def _page(found: Sequence[Replays]) -> str:
    parts = (part for one in found for part in _part(one))
    return BEFORE.format(draws=DRAWS, last=DRAWS - 1) + "\n".join(["", *parts]) + AFTER


def _part(one: Replays) -> Iterator[str]:
    yield f"## {one.name}"
    yield ""
    yield f"{one.runs} runs, {one.questions} questions rated to the end, {one.total} judgments."
    yield ""
    yield "| judgments until settled | by effect | at random | in file order | saved by effect |"
    yield "|---|---:|---:|---:|---:|"
    for figure in (*BOUNDED, None):
        label = figure_name(figure) if figure else "**all four figures**"
        counts = [one.after(way, figure) for way in WAYS]
        cells = " | ".join(f"{count:.0f}" for count in counts)
        yield f"| {label} | {cells} | {1 - counts[0] / one.total:.0%} |"
    yield ""
    yield "| orders settled after | by effect | at random | in file order |"
    yield "|---|---:|---:|---:|"
    for share in SHARES:
        cells = " | ".join(f"{one.settled_at(way, share):.0%}" for way in WAYS)
        yield f"| {share:.0%} of the judgments | {cells} |"
    yield ""
    yield _conclusion(one)
    yield ""


def _conclusion(one: Replays) -> str:
    replays = [found for way in WAYS for found in one.by_way[way]]
    same = sum(found.same for found in replays)
    return f"The same conclusions in {same} of {len(replays)} replays."


def _picture(found: Sequence[Replays]) -> str:
    """Draw a curve for each comparison and way: the share of orders settled by the judgments."""
    canvas = Canvas(WIDE, PRINT)
    looks = {
        WAYS[0]: ("accent", 2.5, ""),
        WAYS[1]: ("soft", 1.5, "5 3"),
        WAYS[2]: ("bad", 1.5, "2 2"),
    }
    for number, one in enumerate(found):
        _curves(canvas, one, number * PANEL, looks)
    foot = PANEL * len(found)
    for place, (way, (stroke, width, dash)) in enumerate(looks.items()):
        left = LEFT + place * 150
        canvas.line((left, foot + 6), (left + 28, foot + 6), stroke=stroke, width=width, dash=dash)
        canvas.text((left + 36, foot + 10), way, size=11, fill="soft")
    said = " ".join(
        f"{one.name}, after 90 % of the judgments: "
        + ", ".join(f"{way} {one.settled_at(way, 0.9):.0%}" for way in WAYS)
        + "."
        for one in found
    )
    title = "Share of orders that are settled, by the share of judgments given"
    return canvas.picture("savings", title, said, foot + 20).markup


def _curves(
    canvas: Canvas, one: Replays, top: float, looks: Mapping[str, tuple[str, float, str]]
) -> None:
    base, room = top + PANEL - 40, WIDE - LEFT - 20
    canvas.text((0, top + 14), f"{one.name}: {one.total} judgments", room=WIDE)
    for share in (0.0, 0.5, 1.0):
        down = base - share * HEIGHT
        canvas.line((LEFT, down), (LEFT + room, down), stroke="rule")
        canvas.text((LEFT - 8, down + 4), f"{share:.0%}", size=11, fill="soft", anchor="end")
        across = LEFT + share * room
        canvas.text((across, base + 18), f"{share:.0%}", size=11, fill="soft", anchor="middle")
    for way, (stroke, width, dash) in looks.items():
        points = [
            (LEFT + share * room, base - one.settled_at(way, share) * HEIGHT)
            for share in (step / 50 for step in range(51))
        ]
        for start, end in pairwise(points):
            canvas.line(start, end, stroke=stroke, width=width, dash=dash)


if __name__ == "__main__":
    main()
