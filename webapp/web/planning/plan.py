"""The part of the rating plan that says how many questions are enough."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from flask import request
from markupsafe import Markup
from msgspec import Struct
from sqlalchemy.orm import Session
from wtforms import Form

from webapp.db.tables.people import Rater
from webapp.db.tables.runs import Run
from webapp.db.tables.study import QuestionSet
from webapp.exporters.comparisons import words
from webapp.exporters.comparisons.charts.canvas import NARROW, WIDE
from webapp.exporters.frame.tables import Table
from webapp.exporters.planning import plan as plan_words
from webapp.metrics.planning.plans import RatingPlan, RatingPlanWish
from webapp.metrics.planning.power import Demand
from webapp.services.comparisons import chosen_runs
from webapp.services.planning import plans
from webapp.web.feature import ShownPart
from webapp.web.frame import forms
from webapp.web.frame.fields import ChoiceField, DecimalField, LineField, WholeField

POWERS = {"80": 0.8, "90": 0.9, "95": 0.95}
DIFFERENCES = {"mean_response_quality": 0.5}
DIFFERENCE = 0.1
"""The difference that a plan is made for before another is asked for."""
MOST_RATERS = 1000


class PlanForm(Form):
    """The wish of a plan; an empty pair takes the runs that vary most."""

    figure = ChoiceField(plans.FIGURES, default=plans.FIGURES[0])
    difference = DecimalField(0, 5)
    power = ChoiceField(POWERS, default=0.8)
    pair = LineField(200)
    deviation = DecimalField(0, 5)
    raters = WholeField(1, MOST_RATERS)


class PlannedPair(Struct, frozen=True):
    """Two runs from whose verdicts the deviation can be taken."""

    value: str
    name: str


class PlanShown(Struct, frozen=True):
    """The form with its errors, and the plan in words, as a curve and as a table.

    ``curve`` and ``table`` are ``None`` where nothing is known of the deviation.
    """

    form: PlanForm
    errors: dict[str, str]
    question_set: int | None
    figures: dict[str, str]
    pairs: tuple[PlannedPair, ...]
    sentences: tuple[str, ...]
    wide: Markup | None
    narrow: Markup | None
    caption: str
    table: Table | None
    raters: int | None


def part(session: Session, owner: Rater, question_set: QuestionSet | None) -> ShownPart:
    """Return the plan as the request asks for it; a wrong value is named at its field."""
    study = owner.study
    runs = plans.runs_of(session, study, question_set) if question_set else []
    form = PlanForm(request.args)
    pairs = tuple(pairs_of(runs))
    errors = {} if form.validate() else forms.messages(form)
    if form.pair.data not in {"", *(pair.value for pair in pairs)}:
        form.pair.put("")
    figure = plans.FIGURES[0] if "figure" in errors else form.figure.data
    if not form.difference.data and "difference" not in errors:
        form.difference.put(DIFFERENCES.get(figure, DIFFERENCE))
    wish = RatingPlanWish(
        figure=figure,
        difference=float(form.difference.data or DIFFERENCE),
        demand=Demand(power=0.8 if "power" in errors else form.power.data),
        deviation=float(form.deviation.data) if form.deviation.data else None,
    )
    pair = tuple(form.pair.data.split("~")) if form.pair.data else None
    found = plans.rating_plan(
        session,
        study,
        question_set,
        wish,
        pair=None if pair is None else (pair[0], pair[1]),
        raters=form.raters.data,
    )
    set_id = question_set.id if question_set else None
    return ShownPart("planning/_plan.html", _shown(found, form, errors, set_id, pairs))


def _shown(
    found: RatingPlan,
    form: PlanForm,
    errors: dict[str, str],
    question_set: int | None,
    pairs: tuple[PlannedPair, ...],
) -> PlanShown:
    known = found.deviation is not None
    return PlanShown(
        form=form,
        errors=errors,
        question_set=question_set,
        figures={name: words.figure_name(name) for name in plans.FIGURES},
        pairs=pairs,
        sentences=plan_words.sentences(found),
        wide=_curve(found, WIDE) if known else None,
        narrow=_curve(found, NARROW) if known else None,
        caption=plan_words.curve_title(found),
        table=plan_words.curve_table(found) if known else None,
        raters=found.effort.raters if found.effort else None,
    )


def _curve(found: RatingPlan, width: float) -> Markup:
    # Markup that was built as a tree, with every text in it escaped.
    return Markup(plan_words.curve(found, width).markup)  # noqa: S704


def pairs_of(runs: Sequence[Run]) -> list[PlannedPair]:
    """Return every two of these runs, to be chosen from."""
    names = chosen_runs.names_of(runs)
    return [
        PlannedPair(f"{one.id}~{other.id}", f"{names[one.id]} – {names[other.id]}")
        for one, other in combinations(runs, 2)
    ]
