"""The sentences of phase 3: one place for its page and its summary."""

from __future__ import annotations

from collections.abc import Iterator

from relevansi import labels, notation
from relevansi.exporters.comparisons.words import SUGGESTED, since, until
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.registry import Unit
from relevansi.metrics.phase_3.user_study import (
    TOO_FEW_SCORES,
    ClusteredMean,
    Comment,
    UserStudyReport,
)

FEW_PARTICIPANTS = 20
"""Below so many participants a report says that they are few."""

COMMENTS = {"helped": mark("What helped"), "missing": mark("What was missing")}
BANGOR = mark(
    "Adjective and grade are a rule of thumb after Bangor, Kortum & Miller (2009): the adjective "
    "whose mean score is nearest (worst imaginable 12.5, awful 20.3, poor 35.7, OK 50.9, good "
    "71.4, excellent 85.5, best imaginable 90.9); grade A from 90, B from 80, C from 70, D from "
    "60, else F. A SUS score is not a percentage."
)
SUS_INTERVAL = mark(
    "The interval of the SUS mean is Student's t interval over participants, cut at 0 and 100."
)

SCORE: Unit = "score 0-100"


def comment_name(comment: Comment) -> str:
    """Return what a comment is on: what helped, what was missing, or a question by its number."""
    if comment.name in COMMENTS:
        return gettext(COMMENTS[comment.name])
    return gettext("On question %(number)s", number=comment.name.rpartition(" ")[2])


def counts(report: UserStudyReport) -> str:
    """Return how many participants and questions there are, and what of them failed."""
    n_failed, n_unreadable = report.totals.n_failed, report.totals.n_unreadable
    parts = [
        ngettext("%(n)s participant", "%(n)s participants", len(report.taking_part)),
        ngettext("%(n)s question", "%(n)s questions", report.n_questions),
    ]
    if n_failed:
        parts.append(ngettext("%(n)s failed call", "%(n)s failed calls", n_failed))
    if n_unreadable:
        parts.append(ngettext("%(n)s unreadable answer", "%(n)s unreadable answers", n_unreadable))
    if report.withdrawn:
        parts.append(ngettext("%(n)s withdrew", "%(n)s withdrew", report.withdrawn))
    return " · ".join(parts)


def figure_in_words(mean: ClusteredMean, unit: Unit) -> tuple[str, ...]:
    """Return a figure over all in parts: value, interval if there is one, both n."""
    people = ngettext("%(n)s participant", "%(n)s participants", mean.clusters)
    questions = ngettext("%(n)s question", "%(n)s questions", mean.n)
    lower, upper = bounds_of(mean)
    bounds = (notation.interval(lower, upper, unit),) if lower is not None else ()
    return (notation.figure(mean.value, unit), *bounds, f"n = {people}, {questions}")


def bounds_of(mean: ClusteredMean) -> tuple[float | None, float | None]:
    return mean.interval.lower, mean.interval.upper


def usability(report: UserStudyReport) -> str:
    """Return the mean SUS score with its interval, adjective and grade."""
    score = report.usability
    if score.mean is None or score.adjective is None:
        return gettext("SUS: nobody has answered all ten items yet.")
    values = {
        "mean": notation.figure(score.mean, SCORE),
        "n": notation.number(score.n),
        "adjective": gettext(score.adjective),
        "grade": score.grade,
    }
    if score.interval.lower is None:
        return gettext(
            "SUS: mean %(mean)s, n = %(n)s: %(adjective)s, grade %(grade)s. No interval: %(why)s",
            why=gettext(TOO_FEW_SCORES),
            **values,
        )
    return gettext(
        "SUS: mean %(mean)s, %(share)s interval %(interval)s, n = %(n)s: %(adjective)s, grade "
        "%(grade)s.",
        share=notation.percent(CONFIDENCE),
        interval=notation.interval(score.interval.lower, score.interval.upper, SCORE),
        **values,
    )


def settings() -> str:
    """Return by which method intervals were made."""
    return gettext(
        "Intervals: %(share)s over participants, Wilson's with the variance between participants.",
        share=notation.percent(CONFIDENCE),
    )


def provenance(report: UserStudyReport) -> str:
    """Return who rated, until when and with which version: under every table."""
    sentence = gettext(
        "Each participant rated the answers to their own questions. Verdicts until: %(until)s. "
        "Relevansi %(version)s.",
        until=until(report.judged_until),
        version=report.version,
    )
    return f"{sentence} {labels.cannot_tell(report.cannot_tell)}"


def notes(report: UserStudyReport) -> Iterator[str]:
    """Yield how the figures are to be read, and what limits them."""
    people = len(report.taking_part)
    if people < FEW_PARTICIPANTS:
        yield gettext(
            "Small: %(people)s. The intervals are over them, and with so few they are rough.",
            people=ngettext("%(n)s participant", "%(n)s participants", people),
        )
    yield gettext(
        "Participants ask questions of their own, so nothing is paired with phases 1 and 2 or "
        "between participants. Ten people with ten questions each are not a hundred independent "
        "questions: the intervals are over the participants."
    )
    yield gettext(
        "A figure is the mean over all questions that have a value; the numbers of "
        "participants and questions behind it are given beside it. What is not rated "
        "yet is in no figure."
    )
    if report.suggested:
        yield since(SUGGESTED, report.suggested)
    yield settings()
    yield gettext(SUS_INTERVAL)
    yield gettext(BANGOR)
    yield gettext(notation.UNDEFINED_NOTE)
