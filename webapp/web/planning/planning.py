"""The page of the rating plan: the rule of a question set, and the parts that planning has."""

from __future__ import annotations

from datetime import datetime
from types import ModuleType

from flask import Blueprint, Response, redirect, render_template, request, url_for
from msgspec import Struct
from sqlalchemy.orm import Session
from wtforms import Form

from webapp.db.tables.people import Rater
from webapp.db.tables.planning import PlanningRule
from webapp.db.tables.study import QuestionSet
from webapp.exporters.planning.rule_words import KINDS
from webapp.i18n import gettext
from webapp.services.planning import rules, samples
from webapp.services.planning.next_question import AFTERWARDS, GO_ON, STOP
from webapp.services.planning.rules import RuleKind
from webapp.services.study import assignments, studies
from webapp.web.feature import ShownPart
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.fields import ChoiceField
from webapp.web.planning import machine_help, plan, sample, settled

blueprint = Blueprint("planning", __name__, url_prefix="/study/planning")

PARTS: tuple[ModuleType, ...] = (plan, settled, sample, machine_help)
"""The parts of the page in their order: each has ``part(session, owner, question_set)``."""


class PlannedSet(Struct, frozen=True):
    """A question set that can be shown, with its letter and the number of its questions."""

    id: int
    letter: str
    questions: int


class RuleShown(Struct, frozen=True):
    """A rule as reports name it.

    ``stops`` says that nothing is asked any more once every order is settled, ``samples`` that it
    drew questions, ``late`` that verdicts existed when it was chosen.
    """

    label: str
    stops: bool
    samples: bool
    chosen_at: datetime
    seed: int
    verdicts_before: int
    ended_at: datetime | None
    verdicts_at_end: int | None

    @property
    def late(self) -> bool:
        """Whether it was chosen after the first verdict."""
        return self.verdicts_before > 0


class PlanningPage(Struct, frozen=True):
    """A question set's rule in force, its earlier rules, its verdicts, and the parts of planning.

    ``is_sampled`` says that a sample leaves questions out, also one that is closed. ``chosen`` is
    ``None`` in a study without questions.
    """

    sets: tuple[PlannedSet, ...]
    chosen: PlannedSet | None
    rule: RuleShown | None
    earlier: tuple[RuleShown, ...]
    verdicts: int
    is_blind: bool
    is_sampled: bool
    found: tuple[ShownPart, ...]


class RuleForm(Form):
    """The rule that the owner chooses; those that draw a sample are chosen with their sizes."""

    kind = ChoiceField([str(RuleKind.BY_EFFECT)], required=True)
    afterwards = ChoiceField([STOP, GO_ON], default=STOP)


@blueprint.get("")
def show() -> str:
    """Show the rating plan of a question set."""
    with access.reading() as (session, owner):
        page = _page(session, owner)
    return render_template("planning/page.html", **htmx.names(page))


@blueprint.post("/<int:set_id>/rule")
def choose(set_id: int) -> Response:
    """Put a rule in force."""
    form = forms.checked(RuleForm)
    with access.writing() as (session, owner):
        chosen = rules.question_set(session, owner.study, set_id)
        settings = {AFTERWARDS: form.afterwards.data}
        kind = RuleKind(form.kind.data)
        rules.choose(session, owner, chosen.id, kind, access.now(), settings=settings)
        session.commit()
    return back(set_id)


@blueprint.post("/<int:set_id>/rule/end")
def end(set_id: int) -> Response:
    """End the rule in force: a sample that has reached its aim leaves the others unasked."""
    with access.writing() as (session, owner):
        chosen = rules.question_set(session, owner.study, set_id)
        samples.finish(session, owner.study, chosen, access.now())
        session.commit()
    return back(set_id)


@blueprint.get("/<int:set_id>/rule")
@blueprint.get("/<int:set_id>/rule/end")
def back(set_id: int) -> Response:
    """Go to the page: a reload or a change of language comes here after a refusal."""
    return redirect(url_for("planning.show", set=set_id), 303)  # type: ignore[return-value]


def _page(session: Session, owner: Rater) -> PlanningPage:
    found = rules.question_sets(session, owner.study)
    is_blind = studies.is_blind(session, owner.study)
    sets = tuple(
        PlannedSet(one.id, assignments.set_letter(number), len(one.questions))
        for number, one in enumerate(found)
    )
    wanted = request.args.get("set", type=int)
    if wanted is not None:
        chosen = rules.question_set(session, owner.study, wanted)
    elif found:
        chosen = found[-1]
    else:
        parts = (plan.part(session, owner, None),)
        return PlanningPage(sets, None, None, (), 0, is_blind, is_sampled=False, found=parts)
    *_, shown = (one for one in sets if one.id == chosen.id)
    had, sampled = rules.every(session, chosen.id), samples.sampling(session, owner.study_id)
    return PlanningPage(
        sets=sets,
        chosen=shown,
        rule=next((_shown(one) for one in reversed(had) if one.ended_at is None), None),
        earlier=tuple(_shown(one) for one in had if one.ended_at is not None),
        verdicts=rules.verdicts(session, chosen.id),
        is_blind=is_blind,
        is_sampled=chosen.id in {one.question_set_id for one in sampled},
        found=_parts(session, owner, chosen),
    )


def _parts(session: Session, owner: Rater, chosen: QuestionSet) -> tuple[ShownPart, ...]:
    made = (module.part(session, owner, chosen) for module in PARTS)
    return tuple(part for part in made if part is not None)


def _shown(rule: PlanningRule) -> RuleShown:
    return RuleShown(
        label=gettext(KINDS[rule.kind]),
        stops=rule.settings.get(AFTERWARDS) == STOP,
        samples=rule.kind in samples.SAMPLING,
        chosen_at=rule.chosen_at,
        seed=rule.seed,
        verdicts_before=rule.verdicts_before,
        ended_at=rule.ended_at,
        verdicts_at_end=rule.verdicts_at_end,
    )
