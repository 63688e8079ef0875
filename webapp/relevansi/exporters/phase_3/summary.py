"""Phase 3 as a document and as files: its sentences, its tables, and all that was given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from msgspec.structs import asdict

from relevansi import labels, notation
from relevansi.exporters.comparisons.answers import axis_of
from relevansi.exporters.comparisons.figure_names import figure_name, unit_of
from relevansi.exporters.comparisons.words import SUGGESTED, since, until
from relevansi.exporters.frame.charts import Axis, Figure
from relevansi.exporters.frame.json_files import fields, moment_json, whole_if_exact
from relevansi.exporters.frame.report_formats import formats
from relevansi.exporters.frame.spreadsheets import Sheet, workbook
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
from relevansi.i18n import gettext, mark, ngettext
from relevansi.metrics.comparisons.differences import leading
from relevansi.metrics.intervals import CONFIDENCE
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.queries import EXPLANATIONS, Undefined
from relevansi.metrics.judging.registry import Unit
from relevansi.metrics.phase_3.user_study import (
    CLUSTERED_FIGURES,
    TOO_FEW_CLUSTERS,
    TOO_FEW_SCORES,
    CategoryLine,
    ClusteredMean,
    Comment,
    OwnAnswer,
    Person,
    UserStudyReport,
)
from relevansi.records import BINARY, USABILITY_ITEMS

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
    lower, upper = _bounds(mean)
    bounds = (notation.interval(lower, upper, unit),) if lower is not None else ()
    return (notation.figure(mean.value, unit), *bounds, f"n = {people}, {questions}")


def _bounds(mean: ClusteredMean) -> tuple[float | None, float | None]:
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


CATEGORY_FIGURES = leading(HEADLINES)
"""The figures that are given per category."""
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
        bounds = _bounds(figures[name])
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
            (numbers(gettext("SUS items answered")), _n_answered_items),
            (numbers("SUS"), lambda person: _score(person.usability_score)),
        ),
        provenance(report),
    )


def _n_answered_items(person: Person) -> int:
    return sum(answer is not None for answer in person.usability)


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
        values = (mean.value, *_bounds(mean), mean.clusters, mean.n)
        return stacked(figure_in_words(mean, unit_of(name)), values)

    def category(line: CategoryLine) -> str:
        return labels.category(line.category) or gettext("no category yet")

    bounds = (gettext("Lower"), gettext("Upper"))
    parts = (gettext("Value"), *bounds, gettext("Participants"), gettext("Questions"))
    figure_columns = [
        (numbers(figure_name(name), *parts), partial(figure, name=name))
        for name in CATEGORY_FIGURES
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


class Plot(NamedTuple):
    """A figure over all with its interval, and `points` for the participants' own figures."""

    name: str
    figure: Figure
    points: tuple[float, ...]
    axis: Axis
    unit: Unit


def plots(report: UserStudyReport) -> list[Plot]:
    """Return the figures over all participants as they are drawn."""
    drawn = []
    for name in PERSON_FIGURES:
        mean = report.figures[name]
        lower, upper = _bounds(mean)
        figure = Figure(mean.value, mean.n, mean.n, ci_low=lower, ci_high=upper, mark=1)
        values = (person.figures[name].value for person in report.taking_part)
        points = tuple(value for value in values if value is not None)
        drawn.append(Plot(figure_name(name), figure, points, axis_of(name), unit_of(name)))
    return drawn


QUESTION_COLUMNS = ("participant", "question_number", "question", "category", "conversation")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "participants": (
        *("participant", "number", "stage", "consent_version", "agreed_at", "finished_at"),
        *("questions", "rated", "failed", "unreadable", "sus_score", *CLUSTERED_FIGURES),
    ),
    "answers": (
        *(*QUESTION_COLUMNS, "asked_at", "answered_at", "question_state", "answer_state"),
        *("results_count", "judged_count", "relevant_count", "unsure_count"),
        *("first_relevant_rank", "empty_outcome", "rated", "precision_at_5"),
        *("overall_precision", "reciprocal_rank", "success", "response_quality"),
        *("notes", "response"),
    ),
    "cards": (
        *(*QUESTION_COLUMNS, "rank", "title", "url", "price", "location", "relevance"),
        *("results_count", "response_quality"),
    ),
    "questionnaire": ("participant", "item", "answer"),
    "comments": ("participant", "comment", "question", "theme", "text"),
}
"""Every sheet with its columns; "answers" and "cards" have one row per answer and per card."""


def sheet(report: UserStudyReport, name: str) -> Sheet:
    """Return one of the sheets; raises ``KeyError`` for an unknown name."""
    columns = COLUMNS[name]
    rows = chain.from_iterable(ROWS[name](person) for person in report.people)
    return Sheet(name, columns, [[row.get(column) for column in columns] for row in rows])


def data_workbook(report: UserStudyReport) -> bytes:
    """Return all that participants gave as one workbook."""
    return workbook([sheet(report, each) for each in COLUMNS])


def _answer_row(person: Person, answer: OwnAnswer) -> dict[str, Any]:
    values = _answer(answer)
    return {
        **(answer.row.summary._asdict() if answer.row else {}),
        **values,
        "participant": person.pseudonym,
        "question_number": answer.number,
        "question_state": answer.state,
        "rated": values["rated"] and int(values["rated"]),
    }


def _answers(person: Person) -> Iterator[dict[str, Any]]:
    return (_answer_row(person, answer) for answer in person.answers)


def _cards(person: Person) -> Iterator[dict[str, Any]]:
    for answer in person.answers:
        row = _answer_row(person, answer)
        row["response_quality"] = answer.row.summary.quality if answer.row else None
        for (_, _, verdict), result in zip(answer.cards, _results(answer), strict=True):
            yield {**row, **result, "relevance": verdict.value if verdict else None}


ROWS: Mapping[str, Callable[[Person], Iterable[Mapping[str, Any]]]] = {
    "participants": lambda person: [
        {
            **_participant(person),
            "questions": len(person.answers),
            "rated": person.n_rated,
            "failed": person.totals.n_failed,
            "unreadable": person.totals.n_unreadable,
            "sus_score": person.usability_score,
            **{name: person.figures[name].value for name in CLUSTERED_FIGURES},
        }
    ],
    "answers": _answers,
    "cards": _cards,
    "questionnaire": lambda person: (
        {"participant": person.pseudonym, "item": item, "answer": answer}
        for item, answer in zip(USABILITY_ITEMS, person.usability, strict=True)
        if answer is not None
    ),
    "comments": lambda person: (
        {
            **asdict(comment),
            "participant": person.pseudonym,
            "comment": comment.name,
            "theme": theme,
        }
        for comment in person.comments
        for theme in comment.themes or (None,)
    ),
}


def user_study_json(report: UserStudyReport) -> dict[str, Any]:
    """Return `report` as plain values.

    ``{study, phase, search_method, llm, version, settings, cannot_tell, judged_until, suggested,
    counts, figures: {name: {value, interval, participants, questions}}, usability,
    categories: [...], participants: [{participant, stage, consent_version, ..., figures,
    usability, comments, questions: [{..., results: [...]}]}]}``.
    """
    return {
        "study": report.study,
        "phase": 3,
        "search_method": report.search_method or None,
        "llm": report.llm or None,
        "version": report.version,
        "settings": {
            "confidence": CONFIDENCE,
            "interval": "Wilson's score interval with the variance between participants",
            "usability_interval": "Student's t over participants, cut at 0 and 100",
        },
        "cannot_tell": report.cannot_tell,
        "judged_until": moment_json(report.judged_until),
        "suggested": [moment_json(when) for when in report.suggested],
        "counts": {
            "participants": len(report.taking_part),
            "questions": report.n_questions,
            "failed": report.totals.n_failed,
            "unreadable": report.totals.n_unreadable,
            "withdrawn": report.withdrawn,
        },
        "figures": _figures(report.figures),
        "usability": asdict(report.usability) | {"interval": asdict(report.usability.interval)},
        "categories": [
            {
                "category": line.category or None,
                "questions": line.n_questions,
                "participants": line.n_people,
                "figures": _figures(line.figures),
            }
            for line in report.categories
        ],
        "participants": [
            {
                **_participant(person),
                "figures": {
                    name: fields(figure, "value", "n") for name, figure in person.figures.items()
                },
                "usability": {"answers": list(person.usability), "score": person.usability_score},
                "comments": [
                    {"comment": comment.name, **fields(comment, "text", "themes")}
                    for comment in person.comments
                ],
                "questions": [
                    _answer(answer) | {"results": _results(answer)} for answer in person.answers
                ],
            }
            for person in report.people
        ],
    }


def _participant(person: Person) -> dict[str, Any]:
    return {
        "participant": person.pseudonym,
        "number": person.number,
        "stage": str(person.stage),
        "consent_version": person.consent,
        "agreed_at": moment_json(person.agreed_at),
        "finished_at": moment_json(person.finished_at),
    }


def _answer(answer: OwnAnswer) -> dict[str, Any]:
    summary = answer.row.summary if answer.row else None
    figures = {name: span.value for name, span in summary.figures.items()} if summary else {}
    return {
        **fields(answer, "number", "question"),
        "category": answer.category or None,
        **fields(answer, "conversation", "state"),
        "asked_at": moment_json(answer.asked_at),
        "answered_at": moment_json(answer.answered_at),
        "response": answer.response,
        "answer_state": summary.state.value if summary else None,
        "empty_outcome": summary.empty_outcome.value if summary and summary.empty_outcome else None,
        "rated": answer.is_rated if answer.asks_for_a_rating else None,
        "precision_at_5": figures.get("mean_precision_at_5"),
        "overall_precision": figures.get("mean_overall_precision"),
        "reciprocal_rank": figures.get("mrr"),
        "success": whole_if_exact(figures.get("success_rate")),
        "response_quality": whole_if_exact(figures.get("mean_response_quality")),
        "notes": answer.row.notes if answer.row else "",
    }


def _results(answer: OwnAnswer) -> list[dict[str, Any]]:
    return [
        {
            "rank": rank,
            **fields(card, "title", "url", "price", "location"),
            "relevance": BINARY.number(verdict),
        }
        for rank, card, verdict in answer.cards
    ]


def _figures(means: Mapping[str, ClusteredMean]) -> dict[str, Any]:
    return {
        name: {
            "value": mean.value,
            "interval": asdict(mean.interval),
            "participants": mean.clusters,
            "questions": mean.n,
        }
        for name, mean in means.items()
    }


FORMATS = formats(document, user_study_json)
"""Every format of the summary by the name that the command line and the page give it."""


def file_name(file_format: str, on: date) -> str:
    """Return the name of a summary's file; raises ``KeyError`` for an unknown format."""
    return f"phase3_summary_{notation.file_day(on)}.{FORMATS[file_format].extension}"
