"""Files scored automatically: kept, read and drilled into, judged beside the machine."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, redirect, render_template, request, url_for
from msgspec import Struct
from wtforms import Form

from webapp.db.tables.evaluations import Evaluation
from webapp.exporters.evaluations import score_reports
from webapp.exporters.evaluations.waiting_rows import WaitingRows
from webapp.i18n import gettext
from webapp.importers.runs.problems import ImportRefused, message
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.metrics.judging.registry import Measure
from webapp.records import Problem
from webapp.services.evaluations import (
    embedders,
    evaluations,
    item_judgments,
    item_rating,
    long_kind,
)
from webapp.services.evaluations import (
    files as evaluation_files,
)
from webapp.services.evaluations.embedders import EmbedderUnusable
from webapp.services.evaluations.evaluations import (
    EvaluationDeletionCost,
    ItemInFull,
    Overview,
    Page,
    Show,
)
from webapp.services.evaluations.files import MOST_ROWS, ScoringSettings
from webapp.services.evaluations.item_rating import ItemRaterStanding
from webapp.services.evaluations.rows import GRADE, EvaluationKind
from webapp.services.evaluations.scoring import NamedBytes
from webapp.web.evaluations import figures as evaluation_figures
from webapp.web.evaluations import items as evaluation_items
from webapp.web.evaluations import uploads
from webapp.web.evaluations.figures import ScoreCell
from webapp.web.evaluations.items import ItemInWords
from webapp.web.evaluations.uploads import ScoringForm
from webapp.web.frame import access, forms, htmx
from webapp.web.frame.fields import UNUSABLE, ChoiceField, LineField
from webapp.web.frame.forms import UnusableForm, checked
from webapp.web.rating import clicks
from webapp.web.rating.figures import UndefinedReason
from webapp.web.workers.long_work import led_to

blueprint = Blueprint("evaluations", __name__, url_prefix="/evaluations")


class PartForm(Form):
    """A word on one part of an item: 1 or 0, for the grade 0 to 5; empty takes it back."""

    part = LineField(40, required=True, wrong=UNUSABLE)
    value = ChoiceField({"": None, **{str(grade): grade for grade in range(6)}})


class OpenForm(Form):
    """Whether raters may judge an evaluation."""

    open = ChoiceField({"0": False, "1": True})


class EvaluationList(Struct, frozen=True):
    """The form to score a file, the reason if it was refused, and the evaluations made before."""

    evaluations: tuple[Overview, ...]
    titles: dict[EvaluationKind, str]
    asked: ScoringForm
    endpoint_model: str
    most_rows: int
    refusals: tuple[str, ...] = ()


class Strategy(Struct, frozen=True):
    """The means of one strategy; the name is empty where rows name none."""

    name: str
    count: int
    cells: tuple[ScoreCell, ...]


class EvaluationPage(Struct, frozen=True):
    """The summary of one evaluation with all that is needed to read it.

    ``figures`` are those of the main table, ``appendix`` the others. ``stated`` is what the file
    says of how its answers were generated. ``number`` is what raters know it by beside its kind,
    ``standings`` how far people are.
    """

    evaluation: Evaluation
    kind: EvaluationKind
    title: str
    figures: tuple[ScoreCell, ...]
    appendix: tuple[ScoreCell, ...]
    stated: tuple[str, ...]
    rules: tuple[str, ...]
    measures: tuple[Measure, ...]
    reasons: tuple[UndefinedReason, ...]
    advice: tuple[str, ...]
    strategies: tuple[Strategy, ...]
    failures: tuple[tuple[str, int], ...]
    too_long: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]
    page: Page
    again: bool
    number: int
    standings: tuple[ItemRaterStanding, ...]


class ItemsPage(Struct, frozen=True):
    """A page of items; ``columns`` name the figures of each line's ``cells``."""

    evaluation: Evaluation
    kind: EvaluationKind
    title: str
    page: Page
    columns: tuple[str, ...]
    cells: tuple[tuple[ScoreCell, ...], ...]
    shows: dict[Show, str]


class ItemPage(Struct, frozen=True):
    """One item; ``event_id`` makes an undo sent twice one."""

    evaluation: Evaluation
    kind: EvaluationKind
    title: str
    item: ItemInFull
    shown: ItemInWords
    figures: tuple[ScoreCell, ...]
    grade: int | None
    can_undo: bool
    event_id: str
    tau_sim: str


class EvaluationDeletion(Struct, frozen=True):
    """An evaluation that is about to go, and what goes with it."""

    evaluation: Evaluation
    cost: EvaluationDeletionCost


@blueprint.get("/")
def index() -> Response:
    """Show the form and the study's evaluations, or why files beside the requests were refused."""
    work_id = request.args.get("refused", "")
    if work_id:
        return _index(*uploads.refused(work_id))
    return _index(ScoringForm(kind=EvaluationKind.ANSWERS), ())


@blueprint.post("/")
def upload() -> Response:
    """Score the chosen files and keep them, or show the reason why they cannot be scored.

    Large ones are scored beside the requests.
    """
    asked = forms.sent(ScoringForm)
    try:
        settings = uploads.settings(asked)
        files = uploads.files(settings.kind)
        if long_kind.is_long(settings, files):
            return _beside_the_requests(settings, uploads.embedder_of(asked), files)
        with WaitingRows() as rows:
            scored = evaluation_files.score(settings, files, rows)
            with access.writing() as (session, rater):
                stored = evaluations.store(session, rater.study, scored, rows, access.now())
                session.commit()
    except ImportRefused as refused:
        return _index(asked, uploads.told(refused.problems), 422)
    except UnusableForm as wrong:
        return _index(asked, tuple(wrong.messages.values()), 422)
    except EmbedderUnusable as unusable:
        return _index(asked, (str(unusable),), 422)
    again = 1 if stored.again else None
    return _to(url_for("evaluations.show", evaluation_id=stored.id, again=again))


def _beside_the_requests(
    settings: ScoringSettings, embedder: str, files: Sequence[NamedBytes]
) -> Response:
    """Return the way to the page that shows how far the scoring of files is."""
    with access.writing() as (session, rater):
        wanted = long_kind.put_by(session, rater.study, settings, embedder, files, access.now())
        session.commit()
    return led_to(long_kind.SCORING, wanted)


@blueprint.get("/<evaluation_id>")
def show(evaluation_id: str) -> str:
    """Show the summary of one evaluation."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, found, Show.ALL, 1)
        number = item_rating.number(session, found)
        standings = item_rating.standings(session, found)
    context = _page(found, page, number, standings)
    return render_template("evaluations/page.html", **htmx.names(context))


@blueprint.post("/<evaluation_id>/raters")
def open_to_raters(evaluation_id: str) -> Response:
    """Let raters judge the items, or no longer."""
    form = checked(OpenForm)
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        wanted = form.open.data
        item_rating.open_to_raters(session, rater.study, found, access.now(), is_open=wanted)
        session.commit()
    return _to(url_for("evaluations.show", evaluation_id=evaluation_id, _anchor="raters"))


@blueprint.get("/<evaluation_id>/items")
def items(evaluation_id: str) -> Response:
    """Show one page of the items, all or those asked for."""
    wanted = request.args.get("show", Show.ALL)
    chosen = Show(wanted) if wanted in list(Show) else Show.ALL
    number = request.args.get("page", 1, type=int)
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        page = evaluations.page(session, found, chosen, number)
    kind = EvaluationKind(found.kind)
    cells = tuple(evaluation_figures.item_cells(kind, line.result)[:3] for line in page.lines)
    context = ItemsPage(
        evaluation=found,
        kind=kind,
        title=_title(kind),
        page=page,
        columns=tuple(cell.label for cell in cells[0]) if cells else (),
        cells=cells,
        shows={
            Show.ALL: gettext("All"),
            Show.FAILED: _failed_words(kind),
            Show.DISAGREEMENTS: gettext("Machine and people disagree"),
            Show.JUDGED: gettext("Judged by people"),
        },
    )
    return htmx.respond("evaluations/items.html", "evaluations/_items.html", context)


@blueprint.get("/<evaluation_id>/items/<int:position>")
def item(evaluation_id: str, position: int) -> Response:
    """Show one item, to be read and judged."""
    return _item(evaluation_id, position)


@blueprint.post("/<evaluation_id>/items/<int:position>/judgment")
def judge(evaluation_id: str, position: int) -> Response:
    """Store a word on one part of the item."""
    form = checked(PartForm)
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        part, value = form.part.data, form.value.data
        item_judgments.judge(session, rater, found, position, part, value, clicks.event())
        session.commit()
    if htmx.wants_part():
        return _item(evaluation_id, position)
    anchor = "grade" if part == GRADE else f"part-{part}"
    return _to(_address(evaluation_id, position, anchor))


@blueprint.post("/<evaluation_id>/items/<int:position>/undo")
def undo(evaluation_id: str, position: int) -> Response:
    """Take back the rater's latest change in the evaluation and show where it was."""
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        where = item_judgments.undo(session, rater, found, clicks.event())
        session.commit()
    where = position if where is None else where
    return _item(evaluation_id, where) if htmx.wants_part() else _to(_address(evaluation_id, where))


@blueprint.get("/<evaluation_id>/delete")
def ask_to_delete(evaluation_id: str) -> str:
    """Say what goes with an evaluation and what stays."""
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        context = EvaluationDeletion(found, evaluations.deletion_cost(session, found))
    return render_template("evaluations/delete.html", **htmx.names(context))


@blueprint.post("/<evaluation_id>/delete")
def delete(evaluation_id: str) -> Response:
    """Delete an evaluation with its items and people's judgments of them."""
    with access.writing() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        evaluations.remove(session, rater.study, found, access.now())
        session.commit()
    return _to(url_for("evaluations.index"))


def _index(asked: ScoringForm, refusals: tuple[str, ...], status: int = 200) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.overviews(session, rater.study)
    context = EvaluationList(
        evaluations=found,
        titles={kind: _title(kind) for kind in EvaluationKind},
        asked=asked,
        endpoint_model=embedders.configured_model(),
        most_rows=MOST_ROWS,
        refusals=refusals,
    )
    return htmx.respond("evaluations/index.html", "evaluations/_upload.html", context, status)


def _page(
    found: Evaluation, page: Page, number: int, standings: tuple[ItemRaterStanding, ...]
) -> EvaluationPage:
    kind = EvaluationKind(found.kind)
    return EvaluationPage(
        evaluation=found,
        kind=kind,
        title=_title(kind),
        figures=evaluation_figures.main_cells(kind, found.figures),
        appendix=evaluation_figures.appendix_cells(kind, found.figures),
        stated=score_reports.stated_settings(found.head.get("settings", {})),
        rules=evaluation_figures.rules(kind),
        measures=evaluation_figures.measures(kind),
        reasons=evaluation_figures.reasons(),
        advice=evaluation_figures.advice(kind),
        strategies=tuple(_strategies(kind, found.head)),
        failures=tuple(
            (gettext(text).rstrip(":"), n)
            for reason, text in evaluation_items.FAILURES.items()
            if (n := found.head.get("reasons", {}).get(str(reason)))
        ),
        too_long=tuple(
            (evaluation_figures.item_label(kind, name), n)
            for name, n in sorted(found.head.get("too_long", {}).items())
        ),
        problems=tuple(message(Problem.stored(stored)) for stored in found.problems),
        page=page,
        again="again" in request.args,
        number=number,
        standings=standings,
    )


def _strategies(kind: EvaluationKind, head: Mapping[str, Any]) -> Iterable[Strategy]:
    """The means of every strategy side by side, those of rows that name none last."""
    for name, means in sorted(head.get("strategies", {}).items(), key=lambda one: not one[0]):
        yield Strategy(name, means["count"], evaluation_figures.item_cells(kind, means))


def _item(evaluation_id: str, position: int) -> Response:
    with access.reading() as (session, rater):
        found = evaluations.find(session, rater.study, evaluation_id)
        item = evaluations.item(session, found, rater, position)
        can_undo = item_judgments.can_undo(session, rater, found)
    kind = EvaluationKind(found.kind)
    tau_sim = found.settings.get("tau_sim")
    context = ItemPage(
        evaluation=found,
        kind=kind,
        title=_title(kind),
        item=item,
        shown=evaluation_items.shown(kind, item),
        figures=evaluation_figures.item_cells(kind, item.result),
        grade=item.judged.get(GRADE),
        can_undo=can_undo,
        event_id=secrets.token_hex(16),
        tau_sim=evaluation_figures.written(tau_sim, "ratio"),
    )
    return htmx.respond("evaluations/item.html", "evaluations/_item.html", context)


def _title(kind: EvaluationKind) -> str:
    return gettext(EVALUATIONS[kind].title)


def _failed_words(kind: EvaluationKind) -> str:
    return {
        EvaluationKind.ANSWERS: gettext("With unsupported claims"),
        EvaluationKind.CHUNKS: gettext("No word in common"),
        EvaluationKind.JSON: gettext("Failed outputs"),
    }[kind]


def _address(evaluation_id: str, position: int, anchor: str | None = None) -> str:
    return url_for(
        "evaluations.item", evaluation_id=evaluation_id, position=position, _anchor=anchor
    )


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]
