"""A run checked against gold questions: figures and matrix, question by question, card by card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)

from webapp.exporters import constraint_tables
from webapp.exporters.manual_input import CARD
from webapp.exporters.measures import read_together
from webapp.exporters.score_documents import constraints_json
from webapp.i18n import gettext
from webapp.importers.problems import ImportRefused, message
from webapp.metrics.automatic_registry import (
    CONSTRAINT_ADVICE,
    CONSTRAINT_LABELS,
    CONSTRAINT_MEASURES,
)
from webapp.metrics.constraint_rules import Outcome
from webapp.metrics.constraints import (
    CardEvaluation,
    Confusion,
    ConstraintReport,
    Expected,
    Missing,
    QueryEvaluation,
    Totals,
)
from webapp.metrics.registry import Measure
from webapp.services import card_decisions, constraints, gold
from webapp.services.card_decisions import MOST_REASON, Decision, DecisionReasonMissing, Step
from webapp.services.constraints import CheckedQuery, CheckedRun, NoGold
from webapp.services.listed_cards import ShownCard
from webapp.web import access, constraint_words, formatting, htmx
from webapp.web.constraint_words import OUTCOMES, SIGNS, Asked, four
from webapp.web.forms import REQUIRED, UNUSABLE, DecisionForm, UnusableForm, checked, chosen_file

blueprint = Blueprint("constraints", __name__, url_prefix="/constraints")

CELLS = (Confusion.TP, Confusion.FN, Confusion.FP, Confusion.TN)
FILES = "any('constraints.json', 'constraints.csv', 'constraint_cards.csv', 'manual_input.json')"


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One figure of the run: what it is called, its value, and over how many it is."""

    name: str
    label: str
    value: str
    n: int


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """One cell of the confusion matrix with the numbers of its questions."""

    name: str
    questions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CategoryLine:
    """One category with its figures."""

    name: str
    questions: int
    successful: int
    success_rate: str
    cards: int
    mean_cpr: str


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """One question in the list of the run's page."""

    query_id: int
    question: str
    category: str
    expected: str
    cards: int
    pending: int
    mean_cpr: str
    is_success: bool
    confusion: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What moves with every decision: the figures and the matrix of the run."""

    figures: tuple[FigureLine, ...]
    matrix: Mapping[str, MatrixCell]
    pca: tuple[FigureLine, ...]


@dataclass(frozen=True, slots=True)
class ConstraintsPage:
    """A run under the gold questions in force; ``summary`` is ``None`` without any.

    ``left_out`` says that MISSING is not counted; ``taken`` how many decisions of a file
    were new, ``None`` where none was just taken in.
    """

    run: CheckedRun
    summary: Summary | None
    counts: Totals | None
    threshold: str
    left_out: bool
    categories: tuple[CategoryLine, ...]
    questions: tuple[QuestionLine, ...]
    advice: tuple[str, ...]
    measures: tuple[Measure, ...]
    remarks: tuple[str, ...]
    n_decisions: int
    taken: int | None
    refusal: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Badge:
    """One constraint on one card: its outcome as sign and word, and what led to it."""

    name: str
    label: str
    outcome: str
    sign: str
    word: str
    rule: str
    value: str
    full_value: str
    why: str
    distance: str
    step: Step | None


@dataclass(frozen=True, slots=True)
class CardShown:
    """One card with its badges; ``badges`` leave out what is neither asked nor decided."""

    number: int
    index: int
    shown: ShownCard
    cpr: str
    passed: bool | None
    pending: bool
    verdict: Step | None
    badges: tuple[Badge, ...]
    not_asked: tuple[str, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Mistake:
    """What keeps a decision on a card from being stored, and what was typed."""

    index: int
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class QuestionPage:
    """One gold question of a run with its cards, and the run's figures beside it."""

    run: CheckedRun
    line: QuestionLine
    rules: tuple[Asked, ...]
    is_manual: bool
    expected_data: bool
    threshold: str
    cards: tuple[CardShown, ...]
    summary: Summary
    subjects: Mapping[str, str]
    signs: Mapping[str, str]
    words: Mapping[str, str]
    before: int | None
    after: int | None
    can_decide: bool
    most_reason: int
    measures: tuple[Measure, ...]
    mistake: Mistake | None = None
    clicked: int | None = None


@blueprint.get("/<run_id>")
def show(run_id: str) -> str:
    """Show a run's figures, matrix, categories and questions."""
    return _rendered(run_id)


@blueprint.post("/<run_id>/gold")
def attach(run_id: str) -> Response:
    """Give the run's question set the gold questions of a file, as a new version."""
    name, data = chosen_file()
    with access.writing() as (session, rater):
        run = constraints.checked_run(session, rater.study, run_id)
        try:
            gold.import_file(session, rater, run.question_set_id, name, data, access.now())
        except ImportRefused as refused:
            session.rollback()
            return make_response(_rendered(run_id, refusal=_all(refused)), 422)
        session.commit()
    return _back(run_id)


@blueprint.post("/<run_id>/manual-input")
def take_in(run_id: str) -> Response:
    """Take in the decisions of a manual_input.json."""
    name, data = chosen_file()
    with access.writing() as (session, rater):
        try:
            new, problems = constraints.import_manual(
                session, rater, run_id, name, data, access.now()
            )
        except ImportRefused as refused:
            session.rollback()
            return make_response(_rendered(run_id, refusal=_all(refused)), 422)
        session.commit()
    if problems:
        told = tuple(map(message, problems))
        return make_response(_rendered(run_id, problems=told, taken=new))
    return _back(run_id, taken=new, _anchor="decisions")


@blueprint.get(f"/<run_id>/<{FILES}:name>")
def download(run_id: str, name: str) -> Response:
    """Return the evaluation, or the decisions by hand, as a file to take away."""
    with access.reading() as (session, rater):
        if name == "manual_input.json":
            document = constraints.manual_document(session, rater.study, run_id, access.now())
            return _attached(jsonify(document), name)
        found = constraints.checked_run(session, rater.study, run_id, _missing())
    if found.report is None:
        raise NoGold(run_id)
    if name == "constraints.json":
        return jsonify(constraints_json(found.report))
    written = constraint_tables.cards_csv if "cards" in name else constraint_tables.questions_csv
    return _attached(Response(written(found.report), content_type="text/csv; charset=utf-8"), name)


@blueprint.get("/<run_id>/<int:query_id>")
def question(run_id: str, query_id: int) -> str:
    """Show one question's cards, each with what its constraints came to."""
    with access.reading() as (session, rater):
        found = constraints.checked_query(session, rater.study, run_id, query_id, _missing())
    return render_template("constraints/question.html", **htmx.names(_question(found)))


@blueprint.post("/<run_id>/<int:query_id>/<int:card>")
def decide(run_id: str, query_id: int, card: int) -> Response:
    """Override a constraint of a card for a reason, or pass or fail the whole card."""
    form = checked(DecisionForm)
    subject, outcome = form.subject.data or CARD, form.outcome.data or None
    wanted = Decision(card, subject, outcome, form.reason.data or "")
    mistake = None
    with access.writing() as (session, rater):
        try:
            constraints.decide(session, rater, run_id, query_id, wanted, access.now())
            session.commit()
        except DecisionReasonMissing:
            session.rollback()
            mistake = Mistake(card, subject, gettext(REQUIRED))
        except card_decisions.UnfitDecision as error:
            raise UnusableForm({"outcome": gettext(UNUSABLE)}) from error
    return _answer(run_id, query_id, card, mistake)


@blueprint.post("/<run_id>/decisions/<int:step_id>/undo")
def undo(run_id: str, step_id: int) -> Response:
    """Undo a decision: what stood before it stands again."""
    with access.writing() as (session, rater):
        step = constraints.undo(session, rater, run_id, step_id, access.now())
        session.commit()
    return _answer(run_id, step.query_id, step.card)


def _answer(run_id: str, query_id: int, card: int, mistake: Mistake | None = None) -> Response:
    """Answer with the parts a decision changed, or send a browser without a script back."""
    if mistake is None and not htmx.wants_part():
        where = url_for(
            "constraints.question", run_id=run_id, query_id=query_id, _anchor=f"card-{card + 1}"
        )
        return redirect(where, 303)  # type: ignore[return-value]
    with access.reading() as (session, rater):
        found = constraints.checked_query(session, rater.study, run_id, query_id)
    page = _question(found, mistake, clicked=card)
    status = 200 if mistake is None else 422
    return htmx.respond("constraints/question.html", "constraints/_clicked.html", page, status)


def _rendered(
    run_id: str, *, refusal: str = "", problems: tuple[str, ...] = (), taken: int | None = None
) -> str:
    with access.reading() as (session, rater):
        found = constraints.checked_run(session, rater.study, run_id, _missing())
    report = found.report
    page = ConstraintsPage(
        run=found,
        summary=None if report is None else _summary(report),
        counts=None if report is None else report.totals,
        threshold="" if report is None else _threshold(report.threshold),
        left_out=_missing() is Missing.LEFT_OUT,
        categories=() if report is None else _categories(report),
        questions=() if report is None else tuple(map(_line, report.queries)),
        advice=tuple(read_together(one, CONSTRAINT_MEASURES) for one in CONSTRAINT_ADVICE),
        measures=tuple(CONSTRAINT_MEASURES.values()),
        remarks=tuple(map(message, found.remarks)),
        n_decisions=len(found.stands or ()),
        taken=request.args.get("taken", type=int) if taken is None else taken,
        refusal=refusal,
        problems=problems,
    )
    return render_template("constraints/page.html", **htmx.names(page))


def _summary(report: ConstraintReport) -> Summary:
    whole, matrix = report.totals, report.totals.matrix
    cards, questions = whole.n_properties, whole.n_queries
    values = {
        "mean_cpr": (whole.mean_cpr, cards),
        "strict_success_ratio": (whole.strict_success_ratio, cards),
        "query_success_rate": (whole.success_rate, questions),
        "precision": (matrix.precision, matrix.tp + matrix.fp),
        "recall": (matrix.recall, matrix.tp + matrix.fn),
        "f1_score": (matrix.f1_score, matrix.tp + matrix.fp + matrix.fn),
        "accuracy": (matrix.accuracy, questions),
    }
    numbers = {
        cell: tuple(q.question.query_id for q in report.queries if q.confusion is cell)
        for cell in CELLS
    }
    return Summary(
        figures=tuple(
            FigureLine(name, gettext(CONSTRAINT_MEASURES[name].label), four(value), n)
            for name, (value, n) in values.items()
        ),
        matrix={str(cell): MatrixCell(str(cell), held) for cell, held in numbers.items()},
        pca=tuple(
            FigureLine("pca", gettext(CONSTRAINT_LABELS[name]), four(value), _n_asked(report, name))
            for name, value in whole.pca.items()
        ),
    )


def _n_asked(report: ConstraintReport, name: str) -> int:
    """Return on how many cards a constraint counts."""
    skipped = {Outcome.NA} | ({Outcome.MISSING} if report.missing is Missing.LEFT_OUT else set())
    checks = (c for query in report.queries for card in query.cards for c in card.checks)
    return sum(check.constraint == name and check.outcome not in skipped for check in checks)


def _categories(report: ConstraintReport) -> tuple[CategoryLine, ...]:
    return tuple(
        CategoryLine(
            name=name,
            questions=part.n_queries,
            successful=part.n_successful,
            success_rate=four(part.success_rate),
            cards=part.n_properties,
            mean_cpr=four(part.mean_cpr),
        )
        for name, part in report.categories.items()
    )


def _line(query: QueryEvaluation) -> QuestionLine:
    return QuestionLine(
        query_id=query.question.query_id,
        question=query.question.text,
        category=query.question.category,
        expected=str(query.question.expected),
        cards=len(query.cards),
        pending=query.n_pending,
        mean_cpr=four(query.mean_cpr),
        is_success=query.is_success,
        confusion=str(query.confusion),
    )


def _question(
    found: CheckedQuery, mistake: Mistake | None = None, clicked: int | None = None
) -> QuestionPage:
    report, query = found.run.report, found.evaluation
    assert report is not None
    return QuestionPage(
        run=found.run,
        line=_line(query),
        rules=constraint_words.asked(query.question.constraints),
        is_manual=query.question.manual,
        expected_data=query.question.expected is Expected.HAS_DATA,
        threshold=_threshold(report.threshold),
        cards=tuple(
            _card(found, index, shown, evaluated)
            for index, (shown, evaluated) in enumerate(zip(found.cards, query.cards, strict=True))
        ),
        summary=_summary(report),
        subjects={name: gettext(label) for name, label in CONSTRAINT_LABELS.items()},
        signs={str(outcome): sign for outcome, sign in SIGNS.items()},
        words={str(outcome): gettext(word) for outcome, word in OUTCOMES.items()},
        before=found.before,
        after=found.after,
        can_decide=found.can_decide,
        most_reason=MOST_REASON,
        measures=tuple(CONSTRAINT_MEASURES.values()),
        mistake=mistake,
        clicked=clicked,
    )


def _card(found: CheckedQuery, index: int, shown: ShownCard, card: CardEvaluation) -> CardShown:
    number = found.evaluation.question.query_id
    stands = found.run.stands or {}
    badges = tuple(
        Badge(
            name=check.constraint,
            label=gettext(CONSTRAINT_LABELS[check.constraint]),
            outcome=str(check.outcome),
            sign=SIGNS[check.outcome],
            word=gettext(OUTCOMES[check.outcome]),
            rule=constraint_words.rule_words(check.constraint, check.rule),
            value=constraint_words.value_words(check),
            full_value=constraint_words.full_value(check),
            why=constraint_words.why(check),
            distance=constraint_words.distance(check),
            step=stands.get((number, index, check.constraint)),
        )
        for check in card.checks
    )
    asked = tuple(badge for badge in badges if badge.rule or badge.step)
    return CardShown(
        number=index + 1,
        index=index,
        shown=shown,
        cpr=four(card.cpr),
        passed=card.passed,
        pending=card.pending,
        verdict=stands.get((number, index, CARD)),
        badges=asked,
        not_asked=tuple(badge.label for badge in badges if badge not in asked),
        steps=tuple(step for step in reversed(found.steps) if step.card == index),
    )


def _threshold(value: Fraction) -> str:
    return formatting.number(float(value))


def _missing() -> Missing:
    return Missing.LEFT_OUT if request.args.get("missing") == "left-out" else Missing.COUNTED


def _all(refused: ImportRefused) -> str:
    return " ".join(map(message, refused.problems))


def _back(run_id: str, **where: str | int) -> Response:
    return redirect(url_for("constraints.show", run_id=run_id, **where), 303)  # type: ignore[arg-type, return-value]


def _attached(response: Response, name: str) -> Response:
    response.headers.set("Content-Disposition", "attachment", filename=name)
    return response
