"""The summary of phase 3 as a document: its figures, participants, categories and comments."""

from __future__ import annotations

from datetime import date
from functools import partial

from relevansi import labels, notation
from relevansi.exporters.comparisons.answers import axis_of
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.comparisons.words import until
from relevansi.exporters.frame.charts import Axis, Figure
from relevansi.exporters.frame.report_formats import formats
from relevansi.exporters.frame.tables import (
    Cell,
    Document,
    Section,
    Table,
    numbers,
    settings_table,
    stacked,
    table_of,
)
from relevansi.exporters.phase_3.json_summary import user_study_json
from relevansi.exporters.phase_3.words import (
    BANGOR,
    bounds_of,
    comment_name,
    counts,
    figure_in_words,
    notes,
    provenance,
    settings,
    usability,
)
from relevansi.i18n import gettext
from relevansi.metrics.comparisons.differences import leading
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.queries import EXPLANATIONS, Undefined
from relevansi.metrics.judging.registry import Unit
from relevansi.metrics.phase_3.user_study import (
    CLUSTERED_FIGURES,
    TOO_FEW_CLUSTERS,
    CategoryLine,
    Person,
    UserStudyReport,
)

PERSON_FIGURES = (
    *("mean_precision_at_5", "mean_overall_precision", "mrr"),
    *("success_rate", "coverage", "mean_response_quality"),
)
"""The figures that are given per participant and drawn."""


def document(report: UserStudyReport, on: date) -> Document:
    """Return `report` as a document dated `on`, in the language in force."""
    people = (stages(report), per_person(report))
    sus, day = (usability(report), gettext(BANGOR)), notation.day(on)
    return Document(
        title=gettext("Phase 3: users with questions of their own"),
        subtitle=gettext("Date: %(date)s. Study: %(study)s.", date=day, study=report.study),
        sections=(
            Section("configuration", gettext("Configuration"), (), (configuration(report),)),
            Section("summary", gettext("Summary"), (), (summary(report),)),
            Section("participants", gettext("By participant"), (), people),
            Section("usability", gettext("Usability"), sus, ()),
            Section("categories", gettext("By category"), (), (by_category(report),)),
            Section("comments", gettext("Comments by theme"), (), (comments(report),)),
            Section("notes", gettext("Notes"), tuple(notes(report)), ()),
        ),
    )


def configuration(report: UserStudyReport) -> Table:
    """Return how the figures were made: chatbot, participants, intervals, version."""
    lines = (
        (gettext("Study"), report.study),
        (gettext("Search method"), report.search_method or gettext("not stated")),
        (gettext("LLM"), report.llm or gettext("not stated")),
        (gettext("Participants"), counts(report)),
        (gettext("Questions each, at most"), notation.number(report.most_questions)),
        (gettext("Verdicts until"), until(report.judged_until)),
        (gettext("Cannot tell"), labels.cannot_tell(report.cannot_tell)),
        (gettext("Intervals"), settings()),
        (gettext("Version"), f"Relevansi {report.version}"),
    )
    return settings_table("phase3_configuration", gettext("How the figures were made"), lines)


def summary(report: UserStudyReport) -> Table:
    """Return the figures over all participants, with intervals over them."""
    figures = report.figures
    whys = dict.fromkeys(
        gettext(EXPLANATIONS[Undefined.NO_QUERY] if mean.value is None else TOO_FEW_CLUSTERS)
        for mean in figures.values()
        if mean.interval.lower is None
    )

    def value(name: str) -> Cell:
        mean = figures[name].value
        return Cell(notation.figure(mean, unit_of(name)), (mean,))

    def interval(name: str) -> Cell:
        bounds = bounds_of(figures[name])
        return Cell(notation.interval(*bounds, unit_of(name)), bounds)

    share = notation.percent(CONFIDENCE)
    interval_heading = gettext("%(share)s interval over participants", share=share)
    return table_of(
        "phase3_summary",
        gettext("Figures over all participants"),
        CLUSTERED_FIGURES,
        (
            (gettext("Figure"), figure_name),
            (numbers(gettext("Value")), value),
            (numbers(interval_heading, gettext("Lower"), gettext("Upper")), interval),
            (numbers(gettext("Participants")), lambda name: figures[name].clusters),
            (numbers(gettext("Questions")), lambda name: figures[name].n),
        ),
        *whys,
        settings(),
        provenance(report),
    )


def stages(report: UserStudyReport) -> Table:
    """Return how far each participant is."""
    return table_of(
        "phase3_participants",
        gettext("Where participants stand"),
        report.people,
        (
            (gettext("Participant"), lambda person: person.pseudonym),
            (gettext("Stage"), lambda person: gettext(person.stage)),
            (gettext("Consent"), _consent),
            (numbers(gettext("Questions asked")), lambda person: len(person.answers)),
            (numbers(gettext("Rated")), lambda person: person.n_rated),
            (numbers(gettext("Failed calls")), lambda person: person.totals.n_failed),
            (numbers(gettext("Unreadable answers")), lambda person: person.totals.n_unreadable),
            (
                numbers(gettext("SUS items answered")),
                lambda person: len(person.usability) - person.usability.count(None),
            ),
            (numbers("SUS"), lambda person: _score(person.usability_score)),
        ),
        provenance(report),
    )


def _consent(person: Person) -> str:
    if person.agreed_at is None:
        return notation.UNDEFINED
    when = notation.moment(person.agreed_at)
    return gettext("%(when)s (version %(version)s)", when=when, version=person.consent)


def _score(score: float | None) -> Cell:
    return Cell(notation.UNDEFINED if score is None else notation.number(score), (score,))


def per_person(report: UserStudyReport) -> Table:
    """Return the figures of each participant over their own questions."""

    def value_and_n(person: Person, name: str) -> Cell:
        figure = person.figures[name]
        value = notation.figure(figure.value, unit_of(name))
        return stacked((value, f"n = {notation.number(figure.n)}"), (figure.value, figure.n))

    figure_columns = [
        (numbers(figure_name(name), gettext("Value"), "n"), partial(value_and_n, name=name))
        for name in PERSON_FIGURES
    ]
    return table_of(
        "phase3_by_participant",
        gettext("Figures of each participant"),
        report.taking_part,
        ((gettext("Participant"), lambda person: person.pseudonym), *figure_columns),
        gettext("n counts the participant's questions that have a value."),
        provenance(report),
    )


def by_category(report: UserStudyReport) -> Table:
    """Return the figures over the questions of each category."""

    def figure(line: CategoryLine, name: str) -> Cell:
        mean = line.figures[name]
        values = (mean.value, *bounds_of(mean), mean.clusters, mean.n)
        return stacked(figure_in_words(mean, unit_of(name)), values)

    def category(line: CategoryLine) -> str:
        return labels.category(line.category) or gettext("no category yet")

    bounds = (gettext("Lower"), gettext("Upper"))
    parts = (gettext("Value"), *bounds, gettext("Participants"), gettext("Questions"))
    figure_columns = [
        (numbers(figure_name(name), *parts), partial(figure, name=name))
        for name in leading(HEADLINES)
    ]
    share = notation.percent(CONFIDENCE)
    return table_of(
        "phase3_categories",
        gettext("Questions by category, with %(share)s intervals over participants", share=share),
        report.categories,
        (
            (gettext("Category"), category),
            (numbers(gettext("Questions")), lambda line: line.n_questions),
            (numbers(gettext("Participants")), lambda line: line.n_people),
            *figure_columns,
        ),
        provenance(report),
    )


def comments(report: UserStudyReport) -> Table:
    """Return what participants wrote, under each theme that the owner gave it."""
    lines = []
    for theme in report.themes:
        lines += [(theme.theme, person, comment) for person, comment in theme.comments]
    return table_of(
        "phase3_comments",
        gettext("What participants wrote, by theme"),
        lines,
        (
            (gettext("Theme"), lambda line: line[0] or gettext("no theme yet")),
            (gettext("Participant"), lambda line: line[1].pseudonym),
            (gettext("On"), lambda line: comment_name(line[2])),
            (gettext("Comment"), lambda line: line[2].text),
        ),
        gettext("A comment is listed under each of its themes."),
        provenance(report),
    )


def plots(report: UserStudyReport) -> list[tuple[str, Figure, tuple[float, ...], Axis, Unit]]:
    """Return the figures over all as they are drawn: name, mean, participants' own, axis, unit."""
    drawn = []
    for name in PERSON_FIGURES:
        mean = report.figures[name]
        lower, upper = bounds_of(mean)
        figure = Figure(mean.value, mean.n, mean.n, ci_low=lower, ci_high=upper, mark=1)
        values = (person.figures[name].value for person in report.taking_part)
        points = tuple(value for value in values if value is not None)
        drawn.append((figure_name(name), figure, points, axis_of(name), unit_of(name)))
    return drawn


FORMATS = formats(document, user_study_json)
"""Every format of the summary by the name that the command line and the page give it."""


def file_name(file_format: str, on: date) -> str:
    """Return the name of a summary's file; raises ``KeyError`` for an unknown format."""
    return f"phase3_summary_{notation.file_day(on)}.{FORMATS[file_format].extension}"
