"""The judgments of a proof pack: those that it states, or those that its events make."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from webapp.metrics.proof_packs.evidence import (
    GivenRating,
    GivenVerdict,
    LoggedEvent,
    ShownRun,
    Thing,
)
from webapp.services.judging.events import standing

Answer = tuple[str, int]
"""A run's id and the number of one of its queries."""


class PackedJudgments(Struct, frozen=True):
    """All judgments: verdicts by rater and thing, grades and notes by rater and answer."""

    verdicts: Mapping[tuple[str, Thing], str] = field(default_factory=dict)
    quality: Mapping[tuple[str, Answer], int] = field(default_factory=dict)
    notes: Mapping[tuple[str, Answer], str] = field(default_factory=dict)


def stated(given: Iterable[GivenVerdict], rated: Iterable[GivenRating]) -> PackedJudgments:
    """Return the judgments that the pack states as current."""
    ratings = [((one.rater, (one.run, one.query_id)), one) for one in rated]
    return PackedJudgments(
        verdicts={(one.rater, one.thing): one.verdict for one in given},
        quality={key: one.quality for key, one in ratings if one.quality is not None},
        notes={key: one.notes for key, one in ratings if one.notes},
    )


def replayed(events: Iterable[LoggedEvent]) -> PackedJudgments:
    """Return the judgments in force once the events of each thing and answer are in order."""
    verdicts_of: dict[tuple[str, Thing], list[LoggedEvent]] = defaultdict(list)
    ratings_of: dict[tuple[str, str, Answer], list[LoggedEvent]] = defaultdict(list)
    for event in events:
        if event.field == "verdict" and event.thing is not None:
            verdicts_of[event.rater, event.thing].append(event)
        elif event.field in {"quality", "notes"} and event.run and event.query_id is not None:
            ratings_of[event.field, event.rater, (event.run, event.query_id)].append(event)
    given = {key: new for key, history in verdicts_of.items() if (new := _last(history))}
    rated = {key: new for key, history in ratings_of.items() if (new := _last(history))}
    return PackedJudgments(
        verdicts=given,
        quality={key[1:]: int(new) for key, new in rated.items() if key[0] == "quality"},
        notes={key[1:]: _one_line_end(new) for key, new in rated.items() if key[0] == "notes"},
    )


def _last(history: Sequence[LoggedEvent]) -> str | None:
    event = standing(history)
    return event.new if event else None


def _one_line_end(text: str) -> str:
    """`text` with the line ends that a CSV file keeps."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def shown(lists: Iterable[ShownRun]) -> tuple[set[Thing], set[Answer]]:
    """Return all that the runs show or left empty, and the answers that there are."""
    things: set[Thing] = set()
    answers: set[Answer] = set()
    for run in lists:
        for query in run.queries:
            things.update(result.thing for result in query.results)
            things.update([query.emptiness] if query.emptiness else [])
            answers.add((run.run, query.query_id))
    return things, answers
