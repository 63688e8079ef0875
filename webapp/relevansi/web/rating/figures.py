"""The live figures of rating pages: three numbers of a question, and on demand all it has.

Beside them are those of the run so far; a blind question has a column for each answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from relevansi import notation
from relevansi.exporters.frame import charts
from relevansi.exporters.frame.charts import in_words
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.judging.figures import HEADLINES, Figure, Totals, figures
from relevansi.metrics.judging.graded import judged_companions
from relevansi.metrics.judging.queries import (
    OF_RANKINGS,
    QUALITY,
    QuerySummary,
    Span,
    Undefined,
    why_undefined,
)
from relevansi.metrics.judging.registry import MEASURES, label_of, measure_of
from relevansi.records import CannotTell, Scale
from relevansi.services.rating.open_pages import ClickedQuestion
from relevansi.services.rating.pages import QuestionPage

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


def of_totals(
    totals: Totals,
    names: Sequence[str] = HEADLINES,
    waiting: tuple[str, str] = ("", ""),
) -> dict[str, FigureCell]:
    """Return the column of several questions; `waiting` is for what verdicts and grades wait."""
    judged = judged_companions(tuple(names))
    shares = {name: figures(totals, [share])[share].value for name, share in judged.items()}
    column = {}
    for name, figure in figures(totals, names).items():
        awaited = waiting[name == QUALITY]
        column[name] = _cell(name, figure, figure.why_undefined, awaited, shares.get(name))
    return column


def of_query(summary: QuerySummary, names: Sequence[str] = HEADLINES) -> dict[str, FigureCell]:
    """Return the column of a single question; coverage and the composite have no place in it."""
    judged = judged_companions(tuple(names))
    shares = {name: summary.figures[share].value for name, share in judged.items()}
    column = dict.fromkeys(names, FigureCell("", applies=False))
    for name in column.keys() & summary.figures.keys():
        span, why = summary.figures[name], why_undefined(summary, name)
        column[name] = _cell(name, span, why, share=shares.get(name))
    grade = summary.figures[QUALITY].value
    if QUALITY in column and grade is not None:  # one grade, not a mean of grades
        column[QUALITY] = replace(column[QUALITY], value=notation.number(grade))
    return column


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


def _counts(summary: QuerySummary, cannot_tell: CannotTell) -> tuple[int, int]:
    # By what the precision divides: "cannot tell" is counted unless the study leaves it out.
    unsure = summary.unsure_count if cannot_tell == "not_relevant" else 0
    return summary.relevant_count, summary.decided_count + unsure


def clicked(summary: QuerySummary, cannot_tell: CannotTell) -> tuple[str, str]:
    """Return the counts of one answer in words: "3 of 4" relevant, and the first rank, from 1."""
    relevant, of = _counts(summary, cannot_tell)
    if not of:
        return "-", "-"
    words = gettext("%(n)s of %(of)s", n=relevant, of=of)
    rank = summary.first_relevant_rank
    return words, notation.number(rank) if rank else gettext("none so far")


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


def waiting(cards: int, lists: int, answers: int) -> tuple[str, str]:
    """Return for what figures of verdicts wait, in words, and for what the mean quality does."""
    parts = [
        ngettext("%(n)s card unjudged", "%(n)s cards unjudged", cards) if cards else "",
        ngettext("%(n)s empty list unjudged", "%(n)s empty lists unjudged", lists) if lists else "",
    ]
    unrated = ngettext("%(n)s answer not graded", "%(n)s answers not graded", answers)
    return ", ".join(filter(None, parts)), unrated if answers else ""


SHORT_LABELS: Mapping[str, str] = {
    "mean_precision_at_5": "P@5",
    "mrr": "RR",
    "mean_overall_precision": mark("Relevant"),
}
"""What the head calls the figures of the question in sight."""
NUMBERS = 3
OF_RUNS_ALONE = {"mrr_answerable", "coverage", "composite"}
"""The headline figures that the panel leaves to the page of the run."""


class LiveFigure(Struct, frozen=True):
    """A figure as the rating page draws it: a number, and its place on a track in per cent.

    ``at`` is ``None`` where no number can be shown: nothing is counted yet, or the value so far
    lies outside what the finished rating can still reach, ``low`` to ``high``.
    """

    name: str
    label: str
    text: str
    at: float | None
    low: float | None
    high: float | None
    is_open: bool
    extent: str
    about: str = ""


def numbers(summary: QuerySummary, page: QuestionPage | ClickedQuestion) -> list[LiveFigure]:
    """Return the three numbers of the question in sight, the counted share of cards last."""
    names = [name for name in names_of_answers(page.headline) if name != "success_rate"]
    names.sort(key=lambda name: name == "mean_overall_precision")
    names = names[: NUMBERS - 1] + names[NUMBERS - 1 :][-1:]
    return [_of_question(name, summary, page, is_short=True) for name in names]


def panel(
    summary: QuerySummary, totals: Totals, page: QuestionPage, waiting: tuple[str, str]
) -> list[tuple[LiveFigure, LiveFigure]]:
    """Return each figure of a question, and of the run so far; `waiting` as for `of_totals`."""
    names = [name for name in page.headline if name not in OF_RUNS_ALONE]
    of_run = of_totals(totals, names, waiting)
    return [
        (
            _of_question(name, summary, page),
            _of_run(name, charts.drawn(figure, is_judged=totals.n_judged > 0), of_run[name], page),
        )
        for name, figure in figures(totals, names).items()
    ]


def _of_run(name: str, figure: charts.Figure, cell: FigureCell, page: QuestionPage) -> LiveFigure:
    about = "; ".join(filter(None, (cell.sentence, cell.waiting, cell.n, cell.reason)))
    return _live(name, label_of(name, page.scale), figure, cell, about=about)


def _of_question(
    name: str,
    summary: QuerySummary,
    page: QuestionPage | ClickedQuestion,
    *,
    is_short: bool = False,
) -> LiveFigure:
    label, words = label_of(name, page.scale), ""
    cell = of_query(summary, [name])[name]
    if not cell.applies:
        return LiveFigure(name, label, "", None, None, None, is_open=False, extent="")
    span = summary.figures[name]
    value = span.lower if span.lower == span.upper else span.value  # settled before the question is
    if name == "mean_overall_precision":
        relevant, of = _counts(summary, page.cannot_tell)
        value = relevant / of if of else None
        words = f"{relevant}/{of}" if is_short and of else ""
    elif name == "success_rate" and value is not None:
        words = gettext("yes") if value else gettext("no")
    elif name == QUALITY and summary.quality is not None:
        words = notation.number(summary.quality)
    if not summary.judged_count and span.lower != span.upper:
        value = None  # as `charts.drawn` has it
    drawn = charts.Figure(value, low=span.lower, high=span.upper)
    label = gettext(SHORT_LABELS.get(name, label)) if is_short else label
    return _live(name, label, drawn, cell, words, cell.reason)


def _live(
    name: str,
    label: str,
    figure: charts.Figure,
    cell: FigureCell,
    words: str = "",
    about: str = "",
) -> LiveFigure:
    unit, value = measure_of(name).unit, figure.written
    is_open = figure.state is charts.State.PROVISIONAL
    top = 5 if name == QUALITY else 1
    band = cell.value if is_open else ""
    return LiveFigure(
        name=name,
        label=label,
        text="–" if value is None else words or notation.figure(value, unit),
        at=_percent(value, top),
        low=_percent(figure.low, top),
        high=_percent(figure.high, top),
        is_open=is_open,
        extent=" · ".join(filter(None, (band, cell.judged))),
        about=about,
    )


def _percent(value: float | None, top: int) -> float | None:
    return None if value is None else round(100 * value / top, 1)
