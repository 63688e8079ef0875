"""The rating plan: how many questions, what is settled, the sample, a machine's help."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from flask import Blueprint, Response, render_template, request, url_for
from sqlalchemy.orm import Session
from wtforms import Form

from relevansi.db.tables.people import Rater
from relevansi.db.tables.planning import RuleKind
from relevansi.db.tables.runs import Run
from relevansi.db.tables.study import QuestionSet, Study
from relevansi.exporters.comparisons.figure_names import (
    figure_name,
)
from relevansi.exporters.planning import machine_help as help_words
from relevansi.exporters.planning import plan as plan_words
from relevansi.exporters.planning import samples as sample_words
from relevansi.exporters.planning import settled as settled_words
from relevansi.i18n import gettext
from relevansi.metrics.planning.power import Demand, RatingPlanWish
from relevansi.services.comparisons import chosen_runs
from relevansi.services.planning import machine_help, samples, settled
from relevansi.services.runs import reports
from relevansi.services.study import assignments
from relevansi.web.features import ShownPart
from relevansi.web.frame import access, forms
from relevansi.web.frame.forms import ChoiceField, DecimalField, LineField, WholeField
from relevansi.web.frame.htmx import see_other

blueprint = Blueprint("planning", __name__, url_prefix="/study/planning")

POWERS = {"80": 0.8, "90": 0.9, "95": 0.95}
DIFFERENCES = {"mean_response_quality": 0.5}
DIFFERENCE = 0.1
"""The difference that a plan is made for before another is asked for."""
MOST_RATERS = 1000
MOST_QUESTIONS = 1_000_000


class PlanForm(Form):
    """The wish of a plan; an empty pair takes the runs that vary most."""

    figure = ChoiceField(samples.PLAN_FIGURES, default=samples.PLAN_FIGURES[0])
    difference = DecimalField(0, 5)
    power = ChoiceField(POWERS, default=0.8)
    pair = LineField(200)
    deviation = DecimalField(0, 5)
    raters = WholeField(1, MOST_RATERS)


class SampleForm(Form):
    kind = ChoiceField(
        {str(kind): kind for kind in (RuleKind.FIXED, RuleKind.MACHINE_HELP)}, required=True
    )
    size = WholeField(1, MOST_QUESTIONS, required=True)


@blueprint.get("")
def show() -> str:
    with access.reading() as (session, owner):
        page = _page(session, owner)
    return render_template("planning/page.html", **page)


@blueprint.post("/<int:set_id>/sample")
def draw(set_id: int) -> Response:
    form = forms.validated_form(SampleForm)
    with access.writing() as (session, owner):
        chosen = samples.question_set(session, owner.study, set_id)
        samples.draw_sample(
            session, owner, chosen, form.size.data, access.now(), kind=form.kind.data
        )
    return back(set_id)


@blueprint.post("/<int:set_id>/rule/end")
def end(set_id: int) -> Response:
    """End the rule in force: reached, the rest stays unasked; stopped early, all is asked again."""
    with access.writing() as (session, owner):
        chosen = samples.question_set(session, owner.study, set_id)
        samples.end_rule(session, owner.study, chosen, access.now())
    return back(set_id)


@blueprint.get("/<int:set_id>/sample")
@blueprint.get("/<int:set_id>/rule/end")
def back(set_id: int) -> Response:
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return see_other(url_for("planning.show", set=set_id, _anchor="sample"))


def _page(session: Session, owner: Rater) -> dict[str, Any]:
    sets = samples.question_sets(session, owner.study)
    set_id = request.args.get("set", type=int)
    if set_id is None and not sets:
        return {"chosen": None, "plan": _plan(session, owner.study, None)}
    chosen = sets[-1] if set_id is None else samples.question_set(session, owner.study, set_id)
    rules = samples.rules_of(session, chosen.id)
    runs = samples.runs_of(session, owner.study, chosen.id)
    return {
        "sets": [
            (entry.id, assignments.set_letter(number), len(entry.questions))
            for number, entry in enumerate(sets)
        ],
        "chosen": chosen,
        "kinds": {kind: gettext(label) for kind, label in sample_words.KINDS.items()},
        "rule": next((entry for entry in reversed(rules) if entry.ended_at is None), None),
        "earlier": [entry for entry in rules if entry.ended_at is not None],
        "plan": _plan(session, owner.study, chosen),
        "settled": _settled(session, owner.study, runs),
        "sample": _sample(session, owner.study, chosen),
        "help": _helped(session, owner.study, runs),
    }


def _plan(session: Session, study: Study, question_set: QuestionSet | None) -> dict[str, Any]:
    runs = samples.runs_of(session, study, question_set.id) if question_set else []
    form = PlanForm(request.args)
    names = chosen_runs.names_of(runs)
    pairs = {
        f"{first_run.id}~{second_run.id}": f"{names[first_run.id]} – {names[second_run.id]}"
        for first_run, second_run in combinations(runs, 2)
    }
    errors = {} if form.validate() else forms.messages(form)
    if form.pair.data not in {"", *pairs}:
        form.pair.set_value("")
    figure = samples.PLAN_FIGURES[0] if "figure" in errors else form.figure.data
    if not form.difference.data and "difference" not in errors:
        form.difference.set_value(DIFFERENCES.get(figure, DIFFERENCE))
    wish = RatingPlanWish(
        figure=figure,
        difference=float(form.difference.data or DIFFERENCE),
        demand=Demand(power=0.8 if "power" in errors else form.power.data),
        deviation=float(form.deviation.data) if form.deviation.data else None,
    )
    first, _, second = form.pair.data.partition("~")
    pair = (first, second) if second else None
    plan = samples.rating_plan(
        session, study, question_set, wish, pair=pair, raters=form.raters.data
    )
    return {
        "form": form,
        "errors": errors,
        "figures": {name: figure_name(name) for name in samples.PLAN_FIGURES},
        "pairs": pairs,
        "section": plan_words.section(plan),
        "headline": plan_words.headline(plan),
        "curve": plan_words.curve(plan),
        "needed": plan.needed,
        "raters": plan.effort.raters if plan.effort else None,
    }


def _settled(session: Session, study: Study, runs: Sequence[Run]) -> ShownPart | None:
    if len(runs) < 2:
        return None
    rule = reports.rule_of(session, study)
    orders = settled.settled_orders(session, study, runs, rule)
    values = {"section": settled_words.section(orders), "next_questions": orders.next_questions}
    return ShownPart("planning/_settled.html", values)


def settled_part(session: Session, study: Study) -> ShownPart | None:
    # Of the newest question set that two runs or more share.
    parts = (
        _settled(session, study, samples.runs_of(session, study, question_set.id))
        for question_set in reversed(samples.question_sets(session, study))
    )
    return next((part for part in parts if part is not None), None)


def _sample(session: Session, study: Study, question_set: QuestionSet) -> dict[str, Any]:
    sample = samples.sample_of_set(session, study, question_set)
    is_rated = bool(samples.count_verdicts(session, question_set.id))
    of = len(question_set.questions)
    if sample is None:
        return {"section": None, "rated_before": is_rated, "size": min(30, max(2, of // 2))}
    return {
        "section": sample_words.section(sample),
        "drawn": sample_words.drawn(sample),
        "reached": sample.rated == sample.drawn,
    }


def _helped(session: Session, study: Study, runs: Sequence[Run]) -> dict[str, Any] | None:
    machines = machine_help.machines(session, study, runs)
    if not machines:
        return None
    machine_id = request.args.get("machine", type=int)
    machine = next((judge for judge in machines if judge.id == machine_id), machines[0])
    rule = reports.rule_of(session, study)
    help_figures = machine_help.of_runs(session, study, runs, rule, machine)
    return {"machines": machines, "machine": machine, "section": help_words.section(help_figures)}
