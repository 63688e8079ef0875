"""What raters found when they looked an empty answer up: in words, as tables, as JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from relevansi import notation
from relevansi.exporters.frame.tables import (
    Cell,
    Section,
    Table,
    numbers,
    table_of,
)
from relevansi.i18n import gettext, ngettext
from relevansi.metrics.comparisons.comparisons import ComparisonReport
from relevansi.metrics.judging.empty_answers import EmptyAnswer, EmptyAnswerCounts, counts_of


def sentences(counts: EmptyAnswerCounts) -> Iterator[str]:
    """Yield a sentence on correct empty answers and one on false negatives, where there are any."""
    number = notation.number
    if counts.correct_empty and not counts.checked:
        yield gettext(
            "Correct empty: %(n)s, none of them given after looking.",
            n=number(counts.correct_empty),
        )
    elif counts.correct_empty:
        yield ngettext(
            "Correct empty: %(correct)s, of these %(checked)s after looking (%(n)s search).",
            "Correct empty: %(correct)s, of these %(checked)s after looking (%(n)s searches).",
            counts.searches,
            correct=number(counts.correct_empty),
            checked=number(counts.checked),
        )
    if counts.false_negatives and not counts.evidence:
        yield gettext(
            "False negatives: %(n)s, none of them with evidence.", n=number(counts.false_negatives)
        )
    elif counts.false_negatives:
        yield ngettext(
            "False negatives: %(missed)s, of these %(shown)s with evidence: %(n)s property that "
            "fits.",
            "False negatives: %(missed)s, of these %(shown)s with evidence: %(n)s properties that "
            "fit.",
            counts.evidence,
            missed=number(counts.false_negatives),
            shown=number(counts.with_evidence),
        )


def counts_json(counts: EmptyAnswerCounts) -> dict[str, Any]:
    """Return counts by name; ``checked_share`` is the figure, null without a correct one."""
    return {**asdict(counts), "checked_share": counts.share_checked}


def answer_json(answer: EmptyAnswer | None) -> dict[str, Any]:
    """Return the searches behind an outcome and the ids of the evidence; nothing without one."""
    if answer is None:
        return {}
    return {"searches": answer.searches, "evidence": [item.identity for item in answer.evidence]}


def section(report: ComparisonReport) -> Section:
    """Return the empty answers of each compared run, and all evidence by name."""
    names = report.comparison.names
    counts = {
        names[run]: counts_of(answers.values()) for run, answers in report.empty_answers.items()
    }
    in_words = [(name, " ".join(sentences(of_run))) for name, of_run in counts.items()]

    def share_checked(line: tuple[str, EmptyAnswerCounts]) -> Cell:
        share = line[1].share_checked
        return Cell(notation.figure(share), (share,))

    by_run = table_of(
        "empty_answers",
        gettext("Empty answers of each run"),
        counts.items(),
        (
            (gettext("Run"), lambda line: line[0]),
            (numbers(gettext("Correct empty")), lambda line: line[1].correct_empty),
            (numbers(gettext("after looking")), lambda line: line[1].checked),
            (numbers(gettext("Searches")), lambda line: line[1].searches),
            (numbers(gettext("Empty answers checked")), share_checked),
            (numbers(gettext("False negatives")), lambda line: line[1].false_negatives),
            (numbers(gettext("with evidence")), lambda line: line[1].with_evidence),
            (numbers(gettext("Evidence")), lambda line: line[1].evidence),
        ),
    )
    return Section(
        "empty_answers",
        gettext("Empty answers"),
        tuple(f"{name}: {sentence}" for name, sentence in in_words if sentence),
        tuple(table for table in (by_run, _evidence(report)) if table.rows),
    )


def _evidence(report: ComparisonReport) -> Table:
    """Return the items that fit a question which came back empty, each item once."""
    questions = {line.position: line.question for line in report.comparison.questions}
    items = {}
    for answers in report.empty_answers.values():
        for position, answer in answers.items():
            items.update({(position, item.item_id): item for item in answer.evidence})
    return table_of(
        "evidence",
        gettext("Evidence of false negatives"),
        [(position, item) for (position, _), item in sorted(items.items())],
        (
            (numbers(gettext("No.")), lambda line: line[0]),
            (gettext("Question"), lambda line: questions.get(line[0], "")),
            ("id", lambda line: line[1].identity),
            (gettext("What should have been shown"), lambda line: line[1].name),
        ),
    )
