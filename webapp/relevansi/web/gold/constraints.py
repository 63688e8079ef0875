"""A run checked against gold questions: figures and matrix, question by question, card by card."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from flask import (
    Blueprint,
    Response,
    jsonify,
    make_response,
    render_template,
    request,
    url_for,
)
from msgspec.structs import asdict

from relevansi.exporters.exports.meanings import read_together
from relevansi.exporters.gold import constraint_reports
from relevansi.exporters.gold.constraint_reports import constraints_json
from relevansi.i18n import gettext
from relevansi.importers.runs.problems import ImportRefused, message
from relevansi.metrics.agreement.agreement import EXPLANATIONS as NO_AGREEMENT
from relevansi.metrics.agreement.agreement import (
    NO_SHARE_EXPLANATIONS,
    BinaryAgreement,
    NoAgreement,
    NoShare,
)
from relevansi.metrics.gold.constraint_rules import CONSTRAINT_ADVICE, CONSTRAINT_MEASURES
from relevansi.metrics.gold.constraints import ConstraintReport, MissingRule, headline_figures
from relevansi.notation import RATIO, four
from relevansi.services.gold import card_agreement, constraints, gold
from relevansi.services.gold.constraints import CheckedQuery, NoGold
from relevansi.services.runs import runs
from relevansi.web.frame import access, htmx
from relevansi.web.frame.forms import chosen_file, validated_form
from relevansi.web.frame.htmx import attached, see_other
from relevansi.web.gold import card_marks, constraint_words
from relevansi.web.gold.card_marks import DecisionForm, DecisionMistake
from relevansi.web.study import rules

KAPPA = "coefficient"
WHY_NONE: dict[object, str] = dict([*NO_AGREEMENT.items(), *NO_SHARE_EXPLANATIONS.items()])

blueprint = Blueprint("constraints", __name__, url_prefix="/constraints")
FILE_NAMES = (
    "any('constraints.json', 'constraints.csv', 'constraint_cards.csv', 'manual_input.json')"
)


@blueprint.get("/<run_id>")
def show(run_id: str) -> str:
    return _page(run_id)


@blueprint.post("/<run_id>/gold")
def import_gold(run_id: str) -> Response:
    name, data = chosen_file()
    try:
        with access.writing() as (session, rater):
            run = runs.find(session, rater.study, run_id)
            gold.import_file(session, rater, run.question_set_id, name, data, access.now())
    except ImportRefused as refused:
        return make_response(_page(run_id, refusal=refused.advice("page")), 422)
    return _redirect_to_run(run_id)


@blueprint.post("/<run_id>/manual-input")
def import_decisions(run_id: str) -> Response:
    name, data = chosen_file()
    try:
        with access.writing() as (session, rater):
            n_new, _, problems = constraints.import_manual(
                session, rater, run_id, name, data, access.now()
            )
    except ImportRefused as refused:
        return make_response(_page(run_id, refusal=refused.advice("page")), 422)
    if problems:
        return make_response(_page(run_id, problems=[*map(message, problems)], n_taken=n_new))
    return _redirect_to_run(run_id, taken=n_new, _anchor="decisions")


@blueprint.get(f"/<run_id>/<{FILE_NAMES}:name>")
def download(run_id: str, name: str) -> Response:
    with access.reading() as (session, rater):
        if name == "manual_input.json":
            document = constraints.manual_document(session, rater.study, run_id, access.now())
            return attached(jsonify(document).data, "application/json", name)
        checked = constraints.checked_run(session, rater.study, run_id, _missing())
    if checked.report is None:
        raise NoGold(run_id)
    if name == "constraints.json":
        return jsonify(constraints_json(checked.report))
    written = constraint_reports.cards_csv if "cards" in name else constraint_reports.questions_csv
    return attached(written(checked.report), "text/csv; charset=utf-8", name)


@blueprint.get("/<run_id>/<int:query_id>")
def question(run_id: str, query_id: int) -> str:
    with access.reading() as (session, rater):
        checked = constraints.checked_query(session, rater.study, run_id, query_id, _missing())
    return render_template("gold/constraints/question.html", **_question_values(checked))


@blueprint.post("/<run_id>/<int:query_id>/<int:card>")
def decide(run_id: str, query_id: int, card: int) -> Response:
    form = validated_form(DecisionForm)
    with access.writing() as (session, rater):
        decided = partial(constraints.decide, session, rater, run_id, query_id)
        mistake = card_marks.store_decision(form, session, decided, card)
    return _after_decision(run_id, query_id, card, mistake)


@blueprint.post("/<run_id>/decisions/<int:step_id>/undo")
def undo(run_id: str, step_id: int) -> Response:
    with access.writing() as (session, rater):
        step = constraints.undo(session, rater, run_id, step_id, access.now())
    return _after_decision(run_id, step.query_id, step.card)


def _after_decision(
    run_id: str, query_id: int, card: int, mistake: DecisionMistake | None = None
) -> Response:
    """Answer with the parts a decision changed, or send a browser without a script back."""
    if mistake is None and not htmx.wants_part():
        where = url_for(
            "constraints.question", run_id=run_id, query_id=query_id, _anchor=f"card-{card + 1}"
        )
        return see_other(where)
    with access.reading() as (session, rater):
        checked = constraints.checked_query(session, rater.study, run_id, query_id)
    page = _question_values(checked, mistake, clicked=card)
    status = 200 if mistake is None else 422
    return htmx.respond(
        "gold/constraints/question.html", "gold/constraints/_clicked.html", page, status
    )


def _page(
    run_id: str, *, refusal: str = "", problems: Sequence[str] = (), n_taken: int | None = None
) -> str:
    with access.reading() as (session, rater):
        checked = constraints.checked_run(session, rater.study, run_id, _missing())
        remarks = gold.remarks(session, run_id, checked.gold) if checked.gold else ()
        of_set = gold.find_set(session, rater.study, checked.run.question_set_id).runs
    return render_template(
        "gold/constraints/page.html",
        checked=checked,
        run=checked.run,
        report=checked.report,
        **({} if checked.report is None else _figures(checked.report)),
        left_out=_missing() is MissingRule.LEFT_OUT,
        advice=[read_together(measure, CONSTRAINT_MEASURES) for measure in CONSTRAINT_ADVICE],
        remarks=[*map(message, remarks)],
        comparable=[run.id for run in of_set] if len(of_set) > 1 else [],
        n_taken=request.args.get("taken", type=int) if n_taken is None else n_taken,
        refusal=refusal,
        problems=problems,
    )


def _question_values(
    checked: CheckedQuery, mistake: DecisionMistake | None = None, clicked: int | None = None
) -> dict[str, object]:
    return {
        **asdict(checked),
        **_figures(checked.report),
        "rules": constraint_words.rules_in_words(checked.line.question.constraints),
        "mistake": mistake,
        "clicked": clicked,
    }


def _figures(report: ConstraintReport) -> dict[str, object]:
    return {
        "figures": headline_figures(report),
        "pca": report.totals.pca,
        "measures": tuple(CONSTRAINT_MEASURES.values()),
        "labels": {name: measure.label for name, measure in CONSTRAINT_MEASURES.items()},
        "words": constraint_words,
    }


def _missing() -> MissingRule:
    """Return how the address wants constraints counted that a card does not show."""
    is_left_out = request.args.get("missing") == MissingRule.LEFT_OUT
    return MissingRule.LEFT_OUT if is_left_out else MissingRule.COUNTED


def _redirect_to_run(run_id: str, **where: str | int) -> Response:
    return see_other(url_for("constraints.show", run_id=run_id, **where))  # type: ignore[arg-type]


FIRST_SHOWN = 10
"""So many cards are listed at once on a phone too."""


@blueprint.get("/<run_id>/people/")
def beside_people(run_id: str) -> str:
    """Show the confusion table, kappa, precision and recall, and the cards to look at."""
    with access.reading() as (session, rater):
        rule = rules.requested_rule(session, rater.study)
        comparison = card_agreement.agreement_with_people(session, rater.study, run_id, rule)
        choices = rules.rule_choices(session, rater.study)
    return render_template(
        "gold/constraint_agreement/page.html",
        comparison=comparison,
        rule=next(choice for choice in choices if choice.name == comparison.rule),
        rules=choices,
        lines=_agreement_lines(comparison.agreement),
        words=constraint_words,
        apart=comparison.disagreed[:FIRST_SHOWN],
        apart_too=comparison.disagreed[FIRST_SHOWN:],
    )


def _agreement_lines(agreement: BinaryAgreement) -> list[tuple[str, str, str, int, str]]:
    """Return each figure: its label, value, interval or why it has none, n, and its meaning."""
    kappa, bounds = agreement.kappa, ""
    if kappa.lower is not None:
        bounds = f"[{four(kappa.lower, KAPPA)}; {four(kappa.upper, KAPPA)}]"
    beyond = gettext("Agreement beyond chance: 1 is full, 0 no better than chance.")
    same = gettext("Cards on which both say the same.")
    of_passed = gettext("Of the cards that meet everything, those that people call relevant.")
    of_relevant = gettext("Of the cards that people call relevant, those that meet everything.")
    n_all, both = agreement.n, agreement.both
    n_passed, n_relevant = both + agreement.machine_only, both + agreement.people_only
    lines = []
    for label, value, unit, n, meaning in (
        (gettext("Cohen's kappa"), kappa.why_undefined or kappa.value, KAPPA, n_all, beyond),
        (gettext("Raw agreement"), agreement.agreed, RATIO, n_all, same),
        (gettext("Precision"), agreement.precision, RATIO, n_passed, of_passed),
        (gettext("Recall"), agreement.recall, RATIO, n_relevant, of_relevant),
    ):
        if isinstance(value, NoAgreement | NoShare):
            lines.append((label, "-", gettext(WHY_NONE[value]), n, meaning))
        else:
            lines.append((label, four(value, unit), bounds if unit == KAPPA else "", n, meaning))
    return lines
