"""Phase 3 as tables and sentences, in the document that every format of a comparison prints."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from webapp import labels, notation
from webapp.exporters.comparisons.words import figure_name, unit_of, until
from webapp.exporters.frame.tables import (
    Cell,
    Column,
    Document,
    Section,
    Table,
    Value,
    settings_table,
    stacked,
    whole_number,
    word,
)
from webapp.exporters.phase_3 import words
from webapp.i18n import gettext
from webapp.metrics.judging.figures import Figure
from webapp.metrics.judging.queries import Undefined
from webapp.metrics.judging.registry import Unit
from webapp.metrics.phase_3.clustered import ClusteredMean
from webapp.metrics.phase_3.user_study import FIGURES, Person, UserStudyReport

CATEGORY_FIGURES = ("mean_precision_at_5", "mrr", "success_rate")
"""The figures that are given per category."""

PERSON_FIGURES = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "success_rate",
    "coverage",
    "mean_response_quality",
)
"""The figures that are given per participant."""


def document(report: UserStudyReport, on: date) -> Document:
    """Return `report` as a document dated `on`, in the language in force."""
    date_line = gettext(
        "Date: %(date)s. Study: %(study)s.", date=notation.day(on), study=report.study
    )
    confidence = report.settings.confidence
    return Document(
        title=gettext("Phase 3: users with questions of their own"),
        subtitle=date_line,
        sections=(
            Section("configuration", gettext("Configuration"), (), (configuration(report),)),
            Section("summary", gettext("Summary"), (), (summary(report),)),
            Section(
                "participants",
                gettext("By participant"),
                (),
                (standing(report), per_person(report)),
            ),
            Section(
                "usability",
                gettext("Usability"),
                (words.usability(report.usability, confidence), gettext(words.BANGOR)),
                (),
            ),
            Section("categories", gettext("By category"), (), (by_category(report),)),
            Section("comments", gettext("Comments by theme"), (), (comments(report),)),
            Section("notes", gettext("Notes"), tuple(words.notes(report)), ()),
        ),
    )


def configuration(report: UserStudyReport) -> Table:
    """Return the study and the settings behind the figures of phase 3, one line each."""
    lines = (
        (gettext("Study"), report.study),
        (gettext("Search method"), report.search_method or gettext("not stated")),
        (gettext("LLM"), report.llm or gettext("not stated")),
        (gettext("Participants"), words.counts(report)),
        (gettext("Questions each, at most"), notation.number(report.most_questions)),
        (gettext("Verdicts until"), until(report.judged_until)),
        (gettext("Cannot tell"), labels.cannot_tell(report.cannot_tell)),
        (gettext("Intervals"), words.settings(report)),
        (gettext("Version"), f"Relevansi {report.version}"),
    )
    return settings_table("phase3_configuration", gettext("How the figures were made"), lines)


def summary(report: UserStudyReport) -> Table:
    """Return every figure over all participants with its interval and both n."""
    share = notation.percent(report.settings.confidence)
    whys = dict.fromkeys(filter(None, map(words.why_not, report.figures.values())))
    return Table(
        "phase3_summary",
        gettext("Figures over all participants"),
        (
            Column(gettext("Figure")),
            Column(gettext("Value"), numeric=True),
            Column(
                gettext("%(share)s interval over participants", share=share),
                numeric=True,
                parts=(gettext("Lower"), gettext("Upper")),
            ),
            Column(gettext("Participants"), numeric=True),
            Column(gettext("Questions"), numeric=True),
        ),
        tuple(
            (word(figure_name(name)), *_estimate(report.figures[name], unit_of(name)))
            for name in FIGURES
        ),
        (*whys, words.settings(report), words.provenance(report)),
    )


def standing(report: UserStudyReport) -> Table:
    """Return the progress of each participant: consent, questions, rating, questionnaire."""
    return Table(
        "phase3_participants",
        gettext("Where participants stand"),
        (
            Column(gettext("Participant")),
            Column(gettext("Stage")),
            Column(gettext("Consent")),
            Column(gettext("Questions asked"), numeric=True),
            Column(gettext("Rated"), numeric=True),
            Column(gettext("Failed calls"), numeric=True),
            Column(gettext("Unreadable answers"), numeric=True),
            Column(gettext("SUS items answered"), numeric=True),
            Column("SUS", numeric=True),
        ),
        tuple(
            (
                word(person.pseudonym),
                word(words.stage(person.stage)),
                word(words.consent(person)),
                whole_number(len(person.answers)),
                whole_number(person.n_rated),
                whole_number(person.n_failed),
                whole_number(person.n_unreadable),
                whole_number(sum(answer is not None for answer in person.usability)),
                _score(person),
            )
            for person in report.people
        ),
        (words.provenance(report),),
    )


def per_person(report: UserStudyReport) -> Table:
    """Return the figures of each participant over their own questions, each with its n."""
    parts = (gettext("Value"), "n")
    return Table(
        "phase3_by_participant",
        gettext("Figures of each participant"),
        (
            Column(gettext("Participant")),
            *(Column(figure_name(name), numeric=True, parts=parts) for name in PERSON_FIGURES),
        ),
        tuple((word(person.pseudonym), *_own(person)) for person in report.taking_part),
        (
            gettext("n counts the participant's questions that have a value."),
            words.provenance(report),
        ),
    )


def by_category(report: UserStudyReport) -> Table:
    """Return the questions by category, with figures over all who asked them."""
    share = notation.percent(report.settings.confidence)
    parts = (
        gettext("Value"),
        gettext("Lower"),
        gettext("Upper"),
        gettext("Participants"),
        gettext("Questions"),
    )
    return Table(
        "phase3_categories",
        gettext("Questions by category, with %(share)s intervals over participants", share=share),
        (
            Column(gettext("Category")),
            Column(gettext("Questions"), numeric=True),
            Column(gettext("Participants"), numeric=True),
            *(Column(figure_name(name), numeric=True, parts=parts) for name in CATEGORY_FIGURES),
        ),
        tuple(
            (
                word(words.category(line.category)),
                whole_number(line.n_questions),
                whole_number(line.n_people),
                *(_lines(line.figures[name], unit_of(name)) for name in CATEGORY_FIGURES),
            )
            for line in report.categories
        ),
        (words.provenance(report),),
    )


def comments(report: UserStudyReport) -> Table:
    """Return the participants' comments, under each of their themes."""
    return Table(
        "phase3_comments",
        gettext("What participants wrote, by theme"),
        (
            Column(gettext("Theme")),
            Column(gettext("Participant")),
            Column(gettext("On")),
            Column(gettext("Comment")),
        ),
        tuple(
            (
                word(words.theme(line.theme)),
                word(person.pseudonym),
                word(words.comment_name(comment)),
                word(comment.text),
            )
            for line in report.themes
            for person, comment in line.comments
        ),
        (gettext("A comment is listed under each of its themes."), words.provenance(report)),
    )


def _estimate(found: ClusteredMean, unit: Unit) -> Iterable[Cell]:
    lower, upper = found.interval.lower, found.interval.upper
    yield Cell(notation.figure(found.value, unit), (found.value,))
    yield Cell(notation.interval(lower, upper, unit), (lower, upper))
    yield whole_number(found.clusters)
    yield whole_number(found.n)


def _lines(found: ClusteredMean, unit: Unit) -> Cell:
    lines = words.figure(found, unit)
    interval = found.interval
    values = (found.value, interval.lower, interval.upper, found.clusters, found.n)
    return stacked(lines, values)


def _own(person: Person) -> Iterable[Cell]:
    found = person.figures
    return (_figure(found[name], unit_of(name)) for name in PERSON_FIGURES)


def _figure(found: Figure, unit: Unit) -> Cell:
    lines = (notation.figure(found.value, unit), f"n = {notation.number(found.n)}")
    return stacked(lines, (found.value, found.n))


def _score(person: Person) -> Cell:
    score = person.usability_score
    value: Value = None if isinstance(score, Undefined) else score
    return Cell(notation.UNDEFINED if value is None else notation.number(float(value)), (value,))
