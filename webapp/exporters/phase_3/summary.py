"""The sentences of phase 3: one place for the page and every file of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date

from webapp import labels, notation
from webapp.exporters.comparisons import pictures
from webapp.exporters.comparisons.pictures import Track
from webapp.exporters.comparisons.words import figure_name, suggestion, unit_of, until
from webapp.exporters.frame.canvas import LARGE, PAGE, SMALL, WIDE, Canvas, Palette, Picture
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
from webapp.i18n import gettext, mark, ngettext
from webapp.metrics.judging.figures import Figure
from webapp.metrics.judging.queries import EXPLANATIONS, Undefined
from webapp.metrics.judging.registry import Unit
from webapp.metrics.phase_3.usability import TOO_FEW_SCORES, UsabilitySummary
from webapp.metrics.phase_3.user_study import (
    FIGURES,
    TOO_FEW_CLUSTERS,
    ClusteredMean,
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


def figure_in_words(found: ClusteredMean, unit: Unit) -> tuple[str, ...]:
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
            Section("summary", gettext("Summary"), (), (summary(report),), (draw(report),)),
            Section(
                "participants",
                gettext("By participant"),
                (),
                (standing(report), per_person(report)),
            ),
            Section(
                "usability",
                gettext("Usability"),
                (usability(report.usability, confidence), gettext(BANGOR)),
                (),
            ),
            Section("categories", gettext("By category"), (), (by_category(report),)),
            Section("comments", gettext("Comments by theme"), (), (comments(report),)),
            Section("notes", gettext("Notes"), tuple(notes(report)), ()),
        ),
    )


def configuration(report: UserStudyReport) -> Table:
    """Return the study and the settings behind the figures of phase 3, one line each."""
    lines = (
        (gettext("Study"), report.study),
        (gettext("Search method"), report.search_method or gettext("not stated")),
        (gettext("LLM"), report.llm or gettext("not stated")),
        (gettext("Participants"), counts(report)),
        (gettext("Questions each, at most"), notation.number(report.most_questions)),
        (gettext("Verdicts until"), until(report.judged_until)),
        (gettext("Cannot tell"), labels.cannot_tell(report.cannot_tell)),
        (gettext("Intervals"), settings(report)),
        (gettext("Version"), f"Relevansi {report.version}"),
    )
    return settings_table("phase3_configuration", gettext("How the figures were made"), lines)


def summary(report: UserStudyReport) -> Table:
    """Return every figure over all participants with its interval and both n."""
    share = notation.percent(report.settings.confidence)
    whys = dict.fromkeys(filter(None, map(why_not, report.figures.values())))
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
        (*whys, settings(report), provenance(report)),
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
                word(stage(person.stage)),
                word(consent(person)),
                whole_number(len(person.answers)),
                whole_number(person.n_rated),
                whole_number(person.n_failed),
                whole_number(person.n_unreadable),
                whole_number(sum(answer is not None for answer in person.usability)),
                _score(person),
            )
            for person in report.people
        ),
        (provenance(report),),
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
        (gettext("n counts the participant's questions that have a value."), provenance(report)),
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
                word(category(line.category)),
                whole_number(line.n_questions),
                whole_number(line.n_people),
                *(_lines(line.figures[name], unit_of(name)) for name in CATEGORY_FIGURES),
            )
            for line in report.categories
        ),
        (provenance(report),),
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
                word(theme(line.theme)),
                word(person.pseudonym),
                word(comment_name(comment)),
                word(comment.text),
            )
            for line in report.themes
            for person, comment in line.comments
        ),
        (gettext("A comment is listed under each of its themes."), provenance(report)),
    )


def _estimate(found: ClusteredMean, unit: Unit) -> Iterable[Cell]:
    lower, upper = found.interval.lower, found.interval.upper
    yield Cell(notation.figure(found.value, unit), (found.value,))
    yield Cell(notation.interval(lower, upper, unit), (lower, upper))
    yield whole_number(found.clusters)
    yield whole_number(found.n)


def _lines(found: ClusteredMean, unit: Unit) -> Cell:
    lines = figure_in_words(found, unit)
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


DRAWN = (
    "mean_precision_at_5",
    "mean_overall_precision",
    "mrr",
    "success_rate",
    "coverage",
    "mean_response_quality",
)
EACH, ALL, AXIS, HEIGHT = 46.0, 66.0, 76.0, 116.0
"""How far below a panel's top the participants, the figure and the axis lie; its height."""
STEP, HIGHEST = 7.0, 21.0
"""How far apart equal values of two participants are drawn, and how high all of them go."""


def draw(report: UserStudyReport, palette: Palette = PAGE) -> Picture:
    """Return the figures over all with intervals, above each those of the participants."""
    canvas = Canvas(WIDE, palette)
    for figure, top, track in pictures.panels(DRAWN, HEIGHT):
        found = report.figures[figure]
        said = pictures.value_with_interval(found.value, found.interval, track.unit)
        track.named(canvas, top + LARGE, figure_name(figure), said, LARGE)
        track.rule(canvas, top + AXIS)
        track.labels(canvas, top + AXIS + SMALL + 5)
        _everybody(canvas, report, figure, track, top + EACH)
        track.estimate(canvas, found.value, found.interval, top + ALL)
    bottom = pictures.below(DRAWN, HEIGHT)
    share = notation.percent(report.settings.confidence)
    key = gettext(
        "Hollow dots: each participant's own figure. Dot and line: the figure over all questions "
        "and its %(share)s interval over participants.",
        share=share,
    )
    bottom += canvas.paragraph((0, bottom), key, room=WIDE)
    title = gettext(
        "Figures over all participants with %(share)s intervals, and each one's", share=share
    )
    return canvas.picture("participants", title, _description(report), bottom + 4)


def _everybody(
    canvas: Canvas, report: UserStudyReport, figure: str, track: Track, middle: float
) -> None:
    """A hollow dot for each participant; dots of equal values are stacked, many more densely."""
    values = (person.figures[figure].value for person in report.taking_part)
    dots = [track.at(value) for value in values if value is not None]
    of_place = Counter(_place(where) for where in dots)
    seen: Counter[int] = Counter()
    for where in dots:
        place = _place(where)
        step = min(STEP, HIGHEST / max(of_place[place] - 1, 1))
        canvas.dot((where, middle - seen[place] * step), radius=3.5, fill="", stroke="edge")
        seen[place] += 1


def _place(where: float) -> int:
    return round(where / STEP)


def _description(report: UserStudyReport) -> str:
    return " ".join(
        f"{figure_name(name)}: {' '.join(figure_in_words(report.figures[name], unit_of(name)))}."
        for name in DRAWN
    )
