"""The part of the rating plan that shows people with a machine's help."""

from __future__ import annotations

from flask import request
from msgspec import Struct
from sqlalchemy.orm import Session

from webapp.db.tables.people import Rater
from webapp.db.tables.study import QuestionSet
from webapp.exporters.frame.tables import Table
from webapp.exporters.planning import machine_help as words
from webapp.services.planning import machine_help, settled
from webapp.services.runs import reports
from webapp.web.feature import ShownPart

WIDTH = 0.2
"""The width of an interval that is shown unless another is asked for: plus or minus 0.1."""


class HelpingMachine(Struct, frozen=True):
    """A machine judge that can be chosen."""

    id: int
    name: str
    chosen: bool


class MachineHelpShown(Struct, frozen=True):
    """A machine's help in the words and tables of reports.

    ``needed`` is for one ``width``, ``asked`` whether the request names it.
    """

    machines: tuple[HelpingMachine, ...]
    question_set: int
    basis: str
    warnings: tuple[str, ...]
    figures: Table
    differences: Table
    needed: Table
    width: float
    asked: bool


def part(session: Session, owner: Rater, question_set: QuestionSet) -> ShownPart | None:
    """Return the help of the machine judge asked for, else of the one that judged most."""
    study = owner.study
    compared = settled.runs_of(session, study, question_set.id)
    found = machine_help.machines(session, study, compared)
    if not found:
        return ShownPart("planning/_machine_help.html", None)
    wanted = request.args.get("machine", type=int)
    machine = next((one for one in found if one.id == wanted), found[0])
    rule = reports.rule_of(session, study)
    help_ = machine_help.of_runs(session, study, compared, rule, machine)
    width = request.args.get("width", WIDTH, type=float)
    width = width if 0 < width <= 1 else WIDTH
    return ShownPart(
        "planning/_machine_help.html",
        MachineHelpShown(
            machines=tuple(HelpingMachine(one.id, one.name, one is machine) for one in found),
            question_set=question_set.id,
            basis=words.basis(help_),
            warnings=words.warnings(help_),
            figures=words.figures(help_),
            differences=words.differences(help_),
            needed=words.questions_needed(help_, width),
            width=width,
            asked="width" in request.args,
        ),
    )
