"""The figures panel: each figure of the question, of its category and of the whole run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from relevansi import notation
from relevansi.exporters.frame.charts import in_words
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.judging.figures import HEADLINES, Figure, Totals, figures
from relevansi.metrics.judging.graded import judged_companions
from relevansi.metrics.judging.queries import (
    EXPLANATIONS,
    OF_RANKINGS,
    QuerySummary,
    Span,
    Undefined,
    why_undefined,
)
from relevansi.metrics.judging.registry import MEASURES, Measure, label_of, label_on, measure_of
from relevansi.records import BINARY, CannotTell, Scale

OF_QUALITY = "mean_response_quality"

OF_ANSWERS: Mapping[str, str] = {
    "mean_precision_at_5": MEASURES["mean_precision_at_5"].label,
    "mean_overall_precision": MEASURES["mean_overall_precision"].label,
    "mrr": mark("Reciprocal rank"),
    "success_rate": mark("Success"),
}
"""The names of the figures of a single answer, by the headline that averages each."""


class FigureCell(Struct, frozen=True):
    """One figure in one column: its value or band in words, or the reason why it has none.

    ``sentence`` is empty once nothing is open; else it says what the value is so far, and
    ``waiting`` what it waits for. ``judged`` is how much is judged of what a figure without bounds
    looks at, empty for all, and the residual of RBP. ``applies`` is false where there is no such
    figure.
    """

    value: str
    is_open: bool = False
    sentence: str = ""
    waiting: str = ""
    n: str = ""
    why: Undefined | None = None
    judged: str = ""
    applies: bool = True

    @property
    def reason(self) -> str:
        return gettext(OF_RANKINGS[self.why]) if self.why else ""


class FigureRow(Struct, frozen=True):
    name: str
    label: str
    cells: tuple[FigureCell, ...]


def rows(
    names: Iterable[str], scale: Scale, *columns: dict[str, FigureCell]
) -> tuple[FigureRow, ...]:
    return tuple(
        FigureRow(name, label_of(name, scale), tuple(column[name] for column in columns))
        for name in names
    )


def of_totals(
    totals: Totals,
    names: Sequence[str] = HEADLINES,
    waiting: tuple[str, str] = ("", ""),
) -> dict[str, FigureCell]:
    """Return the column of several questions; `waiting` is for what verdicts and grades wait."""
    judged = judged_companions(tuple(names))
    shares = {name: figures(totals, [share])[share].value for name, share in judged.items()}
    return {
        name: _cell(name, one, one.why_undefined, waiting[name == OF_QUALITY], shares.get(name))
        for name, one in figures(totals, names).items()
    }


def of_query(summary: QuerySummary, names: Sequence[str] = HEADLINES) -> dict[str, FigureCell]:
    """Return the column of a single question; coverage and the composite have no place in it."""
    judged = judged_companions(tuple(names))
    shares = {name: summary.figures[share].value for name, share in judged.items()}
    column = {
        name: _cell(*(name, span, why_undefined(summary, name)), share=shares.get(name))
        for name, span in summary.figures.items()
    }
    grade = summary.figures[OF_QUALITY].value
    if grade is not None:  # one grade, not a mean of grades
        column[OF_QUALITY] = replace(column[OF_QUALITY], value=notation.number(grade))
    none = FigureCell("", applies=False)
    return {name: column.get(name, none) for name in names}


def of_answers(
    answers: Sequence[tuple[str, QuerySummary]],
    names: Sequence[str],
    scale: Scale,
    cannot_tell: CannotTell,
) -> tuple[list[tuple[str, tuple[str, str]]], list[FigureRow]] | None:
    """Return a column of counts for each answer, called by its letter, and the rows of figures."""
    if not answers:
        return None
    names = names_of_answers(names)
    columns = [of_query(summary, names) for _, summary in answers]
    labels = {name: gettext(OF_ANSWERS.get(name) or label_of(name, scale)) for name in names}
    return [(letter, clicked(summary, cannot_tell)) for letter, summary in answers], [
        FigureRow(name, label, tuple(column[name] for column in columns))
        for name, label in labels.items()
    ]


def names_of_answers(names: Sequence[str]) -> tuple[str, ...]:
    """Return those of the headline figures `names` that a single answer has while it is judged."""
    return tuple(name for name in names if name in OF_ANSWERS or name not in HEADLINES)


def clicked(summary: QuerySummary, cannot_tell: CannotTell) -> tuple[str, str]:
    """Return the counts of one answer in words: "3 of 4" relevant, and the first rank, from 1.

    The 4 are what its precision so far divides by: "cannot tell" is among them unless the study
    leaves it out.
    """
    relevant, counted = summary.relevant_count, summary.decided_count
    if cannot_tell == "not_relevant":
        counted += summary.unsure_count
    if not counted:
        return "-", "-"
    words = gettext("%(n)s of %(of)s", n=relevant, of=counted)
    rank = summary.first_relevant_rank
    return words, notation.number(rank) if rank else gettext("none so far")


def measures(names: Iterable[str] = HEADLINES, scale: Scale = BINARY) -> tuple[Measure, ...]:
    return tuple(replace(one, label=label_on(one, scale)) for one in map(measure_of, names))


def reasons(names: Iterable[str]) -> dict[str, str]:
    return reasons_of(EXPLANATIONS if {*names} <= {*HEADLINES} else OF_RANKINGS)


def reasons_of(explanations: Mapping[Any, str]) -> dict[str, str]:
    """Return why a figure may have no value, in words, by the reason's name."""
    return {str(name): gettext(text) for name, text in explanations.items()}


def _cell(
    name: str,
    figure: Figure | Span,
    why: Undefined | None,
    waiting: str = "",
    share: float | None = None,
) -> FigureCell:
    words, judged = in_words(figure, measure_of(name).unit), ""
    if name.startswith("RBP") and figure.lower is not None and figure.upper is not None:
        judged = gettext("residual %(share)s", share=notation.figure(figure.upper - figure.lower))
    if share is not None and share < 1:
        judged = gettext("judged %(share)s", share=notation.figure(share))
    return FigureCell(
        value=words.text,
        is_open=words.is_open,
        sentence=words.so_far,
        waiting=waiting if words.is_open or (share is not None and share < 1) else "",
        n=words.n,
        why=None if figure.lower is not None else why,
        judged=judged,
    )


def waiting(cards: int, lists: int, answers: int, ties: int = 0) -> tuple[str, str]:
    """Return for what figures of verdicts wait, in words, and for what the mean quality does."""
    parts = [
        ngettext("%(n)s card unjudged", "%(n)s cards unjudged", cards) if cards else "",
        ngettext("%(n)s empty list unjudged", "%(n)s empty lists unjudged", lists) if lists else "",
        ngettext("%(n)s tie", "%(n)s ties", ties) if ties else "",
    ]
    unrated = (
        ngettext("%(n)s answer not graded", "%(n)s answers not graded", answers) if answers else ""
    )
    return ", ".join(filter(None, parts)), unrated
