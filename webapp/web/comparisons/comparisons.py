"""Runs compared, as a page, question by question, and as files to take away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from flask import Blueprint, Response, render_template, request
from msgspec import Struct

from webapp import labels
from webapp.exporters.comparisons import document, words
from webapp.exporters.comparisons.charts import questions as questions_drawn
from webapp.exporters.comparisons.charts.canvas import Drawing
from webapp.exporters.comparisons.charts.pictures import KINDS, PictureChoice, drawing
from webapp.exporters.comparisons.words import answer
from webapp.exporters.frame.tables import Cell, Table
from webapp.metrics.comparisons.comparisons import ComparedQuestionLine, ComparisonReport
from webapp.metrics.judging.figures import HEADLINES
from webapp.services.agreement import adjudications
from webapp.services.comparisons import chosen_runs, comparisons
from webapp.services.comparisons.chosen_runs import (
    Candidate,
    ComparedQuestion,
    DifferentQuestions,
    NothingToCompare,
)
from webapp.services.runs import reports
from webapp.services.study import assignments, studies
from webapp.web.feature import ShownPart
from webapp.web.frame import access, htmx
from webapp.web.frame.downloads import attached
from webapp.web.study import study as rules
from webapp.web.study.study import RuleChoice

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from webapp.db.tables.study import Study
    from webapp.services.runs.reports import Rule

blueprint = Blueprint("comparisons", __name__, url_prefix="/comparisons")
CHART = "any(intervals, categories, questions, progress)"
REPORT = "any(markdown, latex, html, json, xlsx)"

MAIN = ("mean_precision_at_5", "mrr", "success_rate")
"""The figures whose differences are shown at once; the others unfold."""

BY_CATEGORY = tuple(name for name in HEADLINES if name != "composite")
"""The figures that the table and the picture by category can show."""


class Tick(Struct, frozen=True):
    """A run that can be ticked."""

    candidate: Candidate
    ticked: bool


class Address(Struct, frozen=True):
    """The address of a comparison: the runs or files compared, and how its parts are shown.

    Every link carries it. ``page`` is the page it belongs to, ``compared`` the arguments that name
    runs and rule, or files. ``figure`` is the one by category, ``pair`` the two runs of the
    questions' picture. ``in_order`` lists the questions in the order of the set, not those with
    the largest differences first.
    """

    page: str
    runs: tuple[str, ...]
    compared: Mapping[str, object]
    figure: str
    pair: tuple[str, ...]
    in_order: bool

    @property
    def has_answers(self) -> bool:
        """Whether each question leads to its answers: files have none."""
        return self.page == "comparisons"

    @property
    def drawn(self) -> tuple[str, str]:
        """The two runs of the questions' picture, where there are runs to compare."""
        first, second = self.pair
        return first, second

    def arguments(self, **other: object) -> dict[str, object]:
        """Return the arguments of an address like this one, with `other` ones in their place."""
        shown: dict[str, object] = {"figure": self.figure, "pair": list(self.pair)}
        order = {"order": "set"} if self.in_order else {}
        return {**self.compared, **shown, **order, **other}


class QuestionRow(Struct, frozen=True):
    """One question with the cells of its line in the table of questions."""

    line: ComparedQuestionLine
    cells: tuple[Cell, ...]


class DrawnPair(Struct, frozen=True):
    """Two runs whose questions can be drawn: ``runs`` for addresses, ``label`` for people."""

    runs: tuple[str, str]
    label: str
    chosen: bool


class ComparisonInWords(Struct, frozen=True):
    """A comparison in the words and tables of its reports.

    ``parts`` are the wings' comparisons of the same runs. ``unsaid`` names what rated files do not
    contain, empty for runs.
    """

    report: ComparisonReport
    title: str
    blindness: str
    answer: tuple[str, ...]
    unsaid: tuple[str, ...]
    lacks: tuple[str, ...]
    summary: Table
    differences_said: str
    main_conclusions: tuple[str, ...]
    conclusions: tuple[str, ...]
    differences: Table
    signed_ranks: Table
    parts: tuple[ShownPart, ...]
    categories: Table
    category_figures: dict[str, str]
    questions: Table
    questions_said: str
    question_rows: tuple[QuestionRow, ...]
    stability: str
    stability_table: Table
    drawings: dict[str, Drawing]
    pairs: tuple[DrawnPair, ...]
    formats: tuple[str, ...]


class ComparisonPage(Struct, frozen=True):
    """The choice of runs and rule, and below it the comparison or why there is none.

    ``phases`` are those the study has runs for; ``disputes`` are those that keep figures open where
    verdicts are merged; ``different`` the questions that only one of
    the chosen runs asks, by its name; ``styles`` the style sheets of the parts of wings.
    """

    ticks: tuple[Tick, ...]
    phases: tuple[int, ...]
    disputes: int
    rules: tuple[RuleChoice, ...]
    rule: str
    address: Address
    compared: ComparisonInWords | None
    different: dict[str, tuple[tuple[int, str], ...]]
    styles: tuple[str, ...]


class ComparedQuestionPage(Struct, frozen=True):
    """One question as every compared run answered it; ``states`` are the states of its answers.

    ``is_blind``: raters are blind now.
    """

    question: ComparedQuestion
    states: tuple[str, ...]
    address: Address
    rule: str
    is_blind: bool


@blueprint.get("/")
def show() -> str:
    """Show the comparison of the chosen runs, else of the first phase that has any."""
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, rules.wanted_rule())
        phases = chosen_runs.phases_of(session, rater.study)
        address = _address(_chosen(session, rater.study, phases), rule)
        page = _page(session, rater.study, rule, phases, address)
    return render_template("comparisons/page.html", **htmx.names(page))


@blueprint.get("/questions/<int:position>")
def question(position: int) -> str:
    """Show the lists of every compared run for one question, side by side.

    While raters are blind this is logged: their owner may be one of them.
    """
    with access.reading() as (session, rater):
        rule = reports.rule_of(session, rater.study, rules.wanted_rule())
        address = _address(request.args.getlist("runs"), rule)
        found = chosen_runs.find(session, rater.study, address.runs, position, rule)
        is_blind = studies.is_blind(session, rater.study)
    if is_blind:
        with access.writing() as (session, rater):
            assignments.note_opened(session, rater.study, address.runs, position, access.now())
            session.commit()
    states = tuple(document.state(side.answer) for side in found.sides)
    page = ComparedQuestionPage(found, states, address, labels.rule(rule.name), is_blind)
    return render_template("comparisons/question.html", **htmx.names(page))


@blueprint.get(f"/report.<{REPORT}:file_format>")
def take_away(file_format: str) -> Response:
    """Return the comparison as a file to take away."""
    with access.reading() as (session, rater):
        report, _ = _report(session, rater.study)
    return as_file(report, file_format)


def as_file(report: ComparisonReport, file_format: str) -> Response:
    """Return a comparison in one of its formats, to take away."""
    from webapp.exporters.comparisons.files import FORMATS, file_name

    today = access.now().astimezone().date()
    made = FORMATS[file_format]
    name = file_name(report, file_format, today)
    return attached(made.render(report, today), made.media_type, name)


@blueprint.get(f"/<{CHART}:kind>.<any(svg, png, pdf):end>")
def picture(kind: str, end: str) -> Response:
    """Return one picture as a file to take away."""
    with access.reading() as (session, rater):
        report, address = _report(session, rater.study)
    return as_picture(report, address, kind, end)


def as_picture(report: ComparisonReport, address: Address, kind: str, end: str) -> Response:
    """Return a picture of a comparison in one of its formats, to take away."""
    from webapp.exporters.comparisons.charts.pictures import FORMATS, file_name

    today = access.now().astimezone().date()
    choice = _choice(kind, address)
    name = file_name(report, choice, end, today)
    return attached(FORMATS[end].render(report, choice), FORMATS[end].media_type, name)


def _report(session: Session, study: Study) -> tuple[ComparisonReport, Address]:
    rule = reports.rule_of(session, study, rules.wanted_rule())
    address = _address(request.args.getlist("runs"), rule)
    return comparisons.report(session, study, address.runs, rule), address


def _page(
    session: Session,
    study: Study,
    rule: Rule,
    phases: tuple[int, ...],
    address: Address,
) -> ComparisonPage:
    compared, different = None, {}
    try:
        compared = in_words(comparisons.report(session, study, address.runs, rule), address)
    except NothingToCompare:
        pass  # the page says how to choose
    except DifferentQuestions as refused:
        different = dict(refused.only)
    candidates = chosen_runs.candidates(session, study)
    return ComparisonPage(
        ticks=tuple(Tick(one, one.run in address.runs) for one in candidates),
        phases=phases,
        disputes=_disputes(session, study, compared) if rule.rater is None else 0,
        rules=rules.rule_choices(session, study),
        rule=rule.name,
        address=address,
        compared=compared,
        different=different,
        styles=styles(),
    )


def _disputes(session: Session, study: Study, compared: ComparisonInWords | None) -> int:
    """Return how many disputes wait for a decision, where a compared run has open questions."""
    contenders = compared.report.comparison.contenders if compared else ()
    if not any(one.missing.incomplete for one in contenders):
        return 0
    return adjudications.open_disputes(session, study)


def _chosen(session: Session, study: Study, phases: Sequence[int]) -> Sequence[str]:
    """Return the runs that the address names, else those of the phase it names."""
    ticked = request.args.getlist("runs")
    if ticked:
        return ticked
    wanted = request.args.get("phase", type=int)
    phase = wanted if wanted in phases else next(iter(phases), None)
    return chosen_runs.of_phase(session, study, phase) if phase else ()


def _address(run_ids: Sequence[str], rule: Rule) -> Address:
    chosen = tuple(dict.fromkeys(run_ids))
    return address_of("comparisons", chosen, {"runs": list(chosen), "rule": rule.name})


def address_of(page: str, chosen: tuple[str, ...], compared: Mapping[str, object]) -> Address:
    """Return the address of a comparison of `chosen` runs, shown as the request asks."""
    wanted = request.args.get("figure", "")
    pair = tuple(dict.fromkeys(request.args.getlist("pair")))
    return Address(
        page=page,
        runs=chosen,
        compared=compared,
        figure=wanted if wanted in BY_CATEGORY else BY_CATEGORY[0],
        pair=pair if len(pair) == 2 and set(pair) <= set(chosen) else chosen[:2],
        in_order=request.args.get("order") == "set",
    )


def in_words(report: ComparisonReport, address: Address) -> ComparisonInWords:
    """Return a comparison as its page shows it."""
    from webapp.exporters.comparisons.files import FORMATS

    comparison = report.comparison
    questions = document.questions(report)
    rows = tuple(map(QuestionRow, comparison.questions, questions.rows))
    return ComparisonInWords(
        report=report,
        title=words.title(report),
        blindness=words.provenance(report) if report.files else words.blindness(report),
        answer=answer(comparison, MAIN),
        unsaid=tuple(words.unsaid(report)),
        lacks=(
            *words.unasked(comparison),
            *(said for one in comparison.contenders for said in words.lacks(one)),
        ),
        summary=document.summary(report),
        differences_said=words.counted(comparison, words.of(comparison, MAIN)),
        main_conclusions=words.every(comparison, MAIN),
        conclusions=words.every(comparison),
        differences=document.differences(report),
        signed_ranks=document.signed_ranks(report),
        parts=tuple(_parts(report, address)),
        categories=document.by_category(report, address.figure),
        category_figures={name: words.figure_name(name) for name in BY_CATEGORY},
        questions=questions,
        questions_said=questions_drawn.counted(comparison, address.drawn),
        question_rows=rows if address.in_order else tuple(sorted(rows, key=_least_moved)),
        stability=words.stability(report.stability),
        stability_table=document.stability(report),
        drawings={kind: drawing(report, _choice(kind, address)) for kind in KINDS},
        pairs=tuple(_pairs(report, address)),
        formats=tuple(FORMATS),
    )


def styles() -> tuple[str, ...]:
    """Return the style sheets of the parts that other features add."""
    from webapp.web.gold import comparison_part as constraints

    return (*constraints.STYLES, "planning/planning.css")


def _parts(report: ComparisonReport, address: Address) -> Iterator[ShownPart]:
    """Yield the parts that other features show on the same runs."""
    from webapp.web.gold import comparison_part as constraints
    from webapp.web.planning import planning

    part = constraints.part(report, address)
    if part is not None:
        yield part
    yield from planning.compared_parts(report, has_answers=address.has_answers)


def _choice(kind: str, address: Address) -> PictureChoice:
    return PictureChoice(kind, address.figure, address.drawn)


def _pairs(report: ComparisonReport, address: Address) -> Iterator[DrawnPair]:
    for one, other in combinations(report.comparison.contenders, 2):
        ids = (one.run.run, other.run.run)
        yield DrawnPair(ids, f"{one.run.name} – {other.run.name}", ids == address.pair)


def _least_moved(row: QuestionRow) -> tuple[float, int]:
    """The sort key that puts the questions with the largest differences first."""
    return (0.0 if row.line.spread is None else -row.line.spread, row.line.position)
