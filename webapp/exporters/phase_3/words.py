"""The sentences of phase 3: one place for the page and every file of it."""

from __future__ import annotations

from collections.abc import Iterator

from webapp import labels, notation
from webapp.exporters.comparisons.words import suggestion, until
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.judging.queries import EXPLANATIONS, Undefined
from webapp.metrics.judging.registry import Unit
from webapp.metrics.phase_3.clustered import TOO_FEW_CLUSTERS, ClusteredMean
from webapp.metrics.phase_3.usability_summary import TOO_FEW_SCORES, UsabilitySummary
from webapp.metrics.phase_3.user_study import (
    Comment,
    OwnAnswer,
    ParticipantStage,
    Person,
    UserStudyReport,
)
from webapp.records import QueryState

FEW = 20
"""Below so many participants a report says that they are few."""

STAGES = {
    ParticipantStage.INVITED: mark("invited"),
    ParticipantStage.AGREED: mark("agreed"),
    ParticipantStage.ASKING: mark("asking"),
    ParticipantStage.FINISHED: mark("finished"),
}
STATES = {
    "waiting": mark("waiting"),
    "asking": mark("being asked"),
    "interrupted": mark("interrupted"),
    "failed": mark("call failed"),
    "answered": mark("answered"),
    "given up": mark("given up"),
}
COMMENTS = {"helped": mark("What helped"), "missing": mark("What was missing")}
NO_CATEGORY = mark("no category yet")
NO_THEME = mark("no theme yet")
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


def stage(found: ParticipantStage) -> str:
    """Return how far somebody has come."""
    return gettext(STAGES[found])


def state(found: str) -> str:
    """Return the state of a question in words."""
    return gettext(STATES[found])


def rating(found: OwnAnswer) -> str:
    """Return how far an answer is rated, or why it asks for no rating; "" without an answer."""
    if found.row is None:
        return ""
    if not found.asks_for_a_rating:
        failed = found.row.summary.state is QueryState.FAILED
        return gettext("call failed") if failed else gettext("unreadable")
    return gettext("rated") if found.is_rated else gettext("not rated yet")


def category(name: str) -> str:
    """Return a category, or that there is none yet."""
    return labels.category(name) or gettext(NO_CATEGORY)


def theme(name: str) -> str:
    """Return a theme, or that there is none yet."""
    return name or gettext(NO_THEME)


def comment_name(comment: Comment) -> str:
    """Return the subject of a comment."""
    if comment.name in COMMENTS:
        return gettext(COMMENTS[comment.name])
    return gettext("On question %(number)s", number=comment.name.rpartition(" ")[2])


def counts(report: UserStudyReport) -> str:
    """Return how many took part and asked how much, and who is no longer here."""
    people, asked = len(report.taking_part), report.n_questions
    said = [
        ngettext("%(n)s participant", "%(n)s participants", people),
        ngettext("%(n)s question", "%(n)s questions", asked),
    ]
    if report.n_failed:
        said.append(ngettext("%(n)s failed call", "%(n)s failed calls", report.n_failed))
    if report.n_unreadable:
        said.append(
            ngettext("%(n)s unreadable answer", "%(n)s unreadable answers", report.n_unreadable)
        )
    if report.declined:
        said.append(ngettext("%(n)s declined", "%(n)s declined", report.declined))
    if report.withdrawn:
        said.append(ngettext("%(n)s withdrew", "%(n)s withdrew", report.withdrawn))
    return " · ".join(said)


def figure(found: ClusteredMean, unit: Unit) -> tuple[str, ...]:
    """Return a figure over all in parts: value, interval or that there is none, both n."""
    if found.value is None:
        return (notation.UNDEFINED, _n(found))
    lower, upper = found.interval.lower, found.interval.upper
    bounds = (notation.interval(lower, upper, unit),) if lower is not None else ()
    return (notation.figure(found.value, unit), *bounds, _n(found))


def why_not(found: ClusteredMean) -> str:
    """Return why a figure has no value or no interval; "" where it has both."""
    if found.value is None:
        return gettext(EXPLANATIONS[Undefined.NO_QUERY])
    return gettext(TOO_FEW_CLUSTERS) if found.why_no_interval else ""


def usability(found: UsabilitySummary, confidence: float) -> str:
    """Return the SUS mean with interval, n, adjective and grade in a sentence."""
    if found.mean is None or found.adjective is None:
        return gettext("SUS: nobody has answered all ten items yet.")
    mean, n = notation.figure(found.mean, SCORE), notation.number(found.n)
    word = {"adjective": gettext(found.adjective), "grade": found.grade}
    if found.interval.lower is None:
        return gettext(
            "SUS: mean %(mean)s, n = %(n)s: %(adjective)s, grade %(grade)s. No interval: %(why)s",
            mean=mean,
            n=n,
            why=gettext(TOO_FEW_SCORES),
            **word,
        )
    return gettext(
        "SUS: mean %(mean)s, %(share)s interval %(interval)s, n = %(n)s: %(adjective)s, grade "
        "%(grade)s.",
        mean=mean,
        share=notation.percent(confidence),
        interval=notation.interval(found.interval.lower, found.interval.upper, SCORE),
        n=n,
        **word,
    )


def settings(report: UserStudyReport) -> str:
    """Return how the intervals are made, with resamples and seed."""
    return gettext(
        "Intervals: %(share)s percentile bootstrap over participants, each drawn with all their "
        "questions, %(resamples)s resamples, seed %(seed)s.",
        share=notation.percent(report.settings.confidence),
        resamples=notation.number(report.settings.resamples),
        seed=report.settings.seed,
    )


def provenance(report: UserStudyReport) -> str:
    """Return who rated, until when and with which version: under every table."""
    return (
        gettext(
            "Each participant rated the answers to their own questions. Verdicts until: %(until)s. "
            "Relevansi %(version)s.",
            until=until(report.judged_until),
            version=report.version,
        )
        + f" {labels.cannot_tell(report.cannot_tell)}"
    )


def consent(person: Person) -> str:
    """Return which version of the consent somebody agreed to and when; "-" before that."""
    if person.agreed_at is None:
        return notation.UNDEFINED
    when = notation.moment(person.agreed_at)
    return gettext("%(when)s (version %(version)s)", when=when, version=person.consent)


def notes(report: UserStudyReport) -> Iterator[str]:
    """Yield the notes that a reader of the tables needs."""
    people = len(report.taking_part)
    if people < FEW:
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
        yield suggestion(report.suggested)
    yield settings(report)
    yield gettext(SUS_INTERVAL)
    yield gettext(BANGOR)
    yield gettext(
        '"-" means undefined: there is nothing to compute the value from. It does not mean 0.'
    )


def _n(found: ClusteredMean) -> str:
    people = ngettext("%(n)s participant", "%(n)s participants", found.clusters)
    questions = ngettext("%(n)s question", "%(n)s questions", found.n)
    return f"n = {people}, {questions}"
