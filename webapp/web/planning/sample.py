"""The part of the rating plan that draws questions at random, and shows what the sample says."""

from __future__ import annotations

from collections import Counter

from flask import Blueprint, Response, redirect, url_for
from msgspec import Struct
from sqlalchemy.orm import Session
from wtforms import Form

from webapp import labels
from webapp.db.tables.people import Rater
from webapp.db.tables.study import QuestionSet
from webapp.exporters.comparisons import words
from webapp.exporters.frame.tables import Table
from webapp.exporters.planning import sample as sample_words
from webapp.services.planning import plans, rules, samples
from webapp.services.planning.rules import RuleKind
from webapp.services.planning.samples import SampleTooSmall, SampleWish
from webapp.web.feature import ShownPart
from webapp.web.frame import access, forms
from webapp.web.frame.fields import ChoiceField, DecimalField, LineField, WholeField
from webapp.web.planning.plan import PlannedPair, pairs_of

blueprint = Blueprint("samples", __name__, url_prefix="/study/planning")

MOST = 1_000_000
KINDS = {str(kind): kind for kind in (RuleKind.FIXED, RuleKind.SEQUENCE, RuleKind.MACHINE_HELP)}
STEP = 5
"""So many questions are offered to be drawn next."""


class SampleForm(Form):
    """A sample to draw; figure, pair and width are those of one that grows."""

    kind = ChoiceField(KINDS, required=True)
    size = WholeField(1, MOST, required=True)
    stratified = ChoiceField({"": False, "1": True}, default=False)
    figure = ChoiceField(samples.FIGURES, default=samples.FIGURES[0])
    pair = LineField(200)
    width = DecimalField(0, 10)


class ExtendForm(Form):
    """Further questions of a sample, of one category if one is named."""

    more = WholeField(1, MOST, required=True)
    category = LineField(400)


class SampleShown(Struct, frozen=True):
    """The sample of a question set in words and figures, or the form that draws one.

    ``extends`` says whether it may have further questions, ``categories`` whether of one category.
    """

    question_set: int
    sentences: tuple[str, ...]
    drawn: str
    table: Table | None
    in_force: bool
    reached: bool
    extends: bool
    size: int
    of: int
    step: int
    rated_before: bool
    categories: dict[str, str]
    figures: dict[str, str]
    pairs: tuple[PlannedPair, ...]


def part(session: Session, owner: Rater, question_set: QuestionSet) -> ShownPart:
    """Return the sample in force, else the form."""
    study = owner.study
    found = samples.of_set(session, study, question_set)
    rule = rules.in_force(session, question_set.id)
    rated = bool(rules.verdicts(session, question_set.id))
    grows = found is not None and found.rule.kind == RuleKind.SEQUENCE
    left = 0 if found is None else found.rule.of - found.drawn
    counted = Counter(question.category for question in question_set.questions)
    return ShownPart(
        "planning/_sample.html",
        SampleShown(
            question_set=question_set.id,
            sentences=sample_words.sentences(found) if found else (),
            drawn=sample_words.drawn(found) if found else "",
            table=sample_words.table(found) if found and found.figures else None,
            in_force=found is not None and rule is not None,
            reached=found is not None and samples.is_reached(found),
            extends=bool(rule) and left > 0 and (grows or not rated),
            size=found.drawn if found else min(30, max(2, len(question_set.questions) // 2)),
            of=len(question_set.questions),
            step=min(STEP, left),
            rated_before=rated,
            categories={} if grows else {name: labels.category(name) for name in sorted(counted)},
            figures={name: words.figure_name(name) for name in samples.FIGURES},
            pairs=tuple(pairs_of(plans.runs_of(session, study, question_set))),
        ),
    )


@blueprint.post("/<int:set_id>/sample")
def draw(set_id: int) -> Response:
    """Draw a sample and put its rule in force."""
    form = forms.checked(SampleForm)
    with access.writing() as (session, owner):
        chosen = rules.question_set(session, owner.study, set_id)
        kind = form.kind.data
        wish = SampleWish(
            size=form.size.data,
            kind=kind,
            stratified=form.stratified.data,
            figure=form.figure.data,
            runs=tuple((form.pair.data or "").split("~")) if kind == RuleKind.SEQUENCE else (),
            width=float(form.width.data) if form.width.data else None,
        )
        samples.draw(session, owner, chosen, wish, access.now())
        session.commit()
    return back(set_id)


@blueprint.post("/<int:set_id>/sample/more")
def extend(set_id: int) -> Response:
    """Draw further questions."""
    form = forms.checked(ExtendForm)
    with access.writing() as (session, owner):
        chosen = rules.question_set(session, owner.study, set_id)
        category = form.category.data or None
        if category not in {None, *(question.category for question in chosen.questions)}:
            raise SampleTooSmall(category)
        samples.extend(session, chosen, form.more.data, category)
        session.commit()
    return back(set_id)


@blueprint.post("/<int:set_id>/sample/end")
def finish(set_id: int) -> Response:
    """End the sample: reached, the rest stays unasked; stopped early, all is asked again."""
    with access.writing() as (session, owner):
        chosen = rules.question_set(session, owner.study, set_id)
        samples.finish(session, owner.study, chosen, access.now())
        session.commit()
    return back(set_id)


@blueprint.get("/<int:set_id>/sample")
@blueprint.get("/<int:set_id>/sample/more")
@blueprint.get("/<int:set_id>/sample/end")
def back(set_id: int) -> Response:
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return redirect(url_for("planning.show", set=set_id, _anchor="sample"), 303)  # type: ignore[return-value]
