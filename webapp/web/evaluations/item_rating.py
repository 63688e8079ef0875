"""Items of evaluations for raters: ✓ or ✗ on each part, a grade, and never the machine's score.

These pages show nothing from a score: they are made from the scored row alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, redirect, render_template, url_for

from webapp.db.tables.evaluations import Evaluation
from webapp.i18n import gettext, mark
from webapp.metrics.evaluations.answers import sentences
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.services.evaluations import item_rating
from webapp.services.evaluations.evaluations import GRADE, EvaluationKind
from webapp.services.evaluations.item_rating import ItemToJudge, Offer
from webapp.web.evaluations import items
from webapp.web.evaluations.evaluations import PartForm
from webapp.web.evaluations.items import cut, lines_of, plain
from webapp.web.frame import access, htmx
from webapp.web.frame.forms import checked
from webapp.web.rating import clicks

blueprint = Blueprint("item_rating", __name__, url_prefix="/items")

ASKS = {
    EvaluationKind.ANSWERS: mark("Is this sentence right and supported?"),
    EvaluationKind.CHUNKS: mark("Does this chunk help to answer?"),
    EvaluationKind.JSON: mark("Is this field right?"),
}
"""The question to the rater about each part, by kind of evaluation."""


@blueprint.get("/")
def index() -> str:
    """Show which evaluations wait for this rater, and how far they are."""
    with access.reading() as (session, rater):
        offers = item_rating.offers(session, rater)
    return render_template("evaluations/item_rating/index.html", offers=offers)


@blueprint.get("/<evaluation_id>/")
def next_one(evaluation_id: str) -> Response:
    """Lead to the next item that the rater has not finished; to the list if none is left."""
    with access.reading() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        position = item_rating.first_open(session, rater, found)
    if position is None:
        return _to(url_for("item_rating.index"))
    return _to(_address(evaluation_id, position))


@blueprint.get("/<evaluation_id>/<int:position>")
def show(evaluation_id: str, position: int) -> Response:
    """Show one item to its rater."""
    context = _item(evaluation_id, position)
    return htmx.respond(
        "evaluations/item_rating/page.html", "evaluations/item_rating/_shown.html", context
    )


@blueprint.post("/<evaluation_id>/<int:position>/judgment")
def judge(evaluation_id: str, position: int) -> Response:
    """Store a verdict or grade on one part of the item."""
    form = checked(PartForm)
    part, value = form.part.data, form.value.data
    with access.writing() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        item_rating.judge(session, rater, found, position, part, value, clicks.event())
        session.commit()
    if htmx.wants_part():
        context = _item(evaluation_id, position)
        return htmx.respond(
            "evaluations/item_rating/_shown.html", "evaluations/item_rating/_shown.html", context
        )
    return _to(_address(evaluation_id, position, "grade" if part == GRADE else f"part-{part}"))


@blueprint.post("/<evaluation_id>/undo")
def undo(evaluation_id: str) -> Response:
    """Take back the rater's latest change in the evaluation and show where it was."""
    with access.writing() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        where = item_rating.undo(session, rater, found, clicks.event())
        session.commit()
    if where is None:
        return _to(url_for("item_rating.next_one", evaluation_id=evaluation_id))
    return _to(_address(evaluation_id, where))


def _item(evaluation_id: str, position: int) -> dict[str, Any]:
    with access.reading() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        asked = item_rating.item(session, rater, found, position)
        offer = item_rating.offer(session, rater, found)
    return _shown(found, asked, offer)


def _shown(found: Evaluation, asked: ItemToJudge, offer: Offer) -> dict[str, Any]:
    kind, row = EvaluationKind(found.kind), asked.row
    made = {
        EvaluationKind.ANSWERS: _sentences,
        EvaluationKind.CHUNKS: _chunks,
        EvaluationKind.JSON: _fields,
    }[kind]
    parts = tuple(made(asked))
    expected = row.get("gold") if kind is EvaluationKind.ANSWERS else row.get("expected_answer")
    grade = asked.judged.get(GRADE)
    return {
        "offer": offer,
        "title": gettext(EVALUATIONS[kind].title),
        "asked": asked,
        "question": str(row["question"]),
        "expected": None if expected is None else cut(expected),
        "parts": parts,
        "contexts": [(one["source_path"], cut(one["text"])) for one in row["contexts"]]
        if kind is EvaluationKind.JSON
        else (),
        "output": cut(row["output"] or "") if kind is EvaluationKind.JSON else "",
        "asks": gettext(ASKS[kind]),
        "grade": grade,
        "n_open": sum(part["verdict"] is None for part in parts) + (grade is None),
    }


def _part(asked: ItemToJudge, key: str, **shown: Any) -> dict[str, Any]:
    empty = {"label": "", "text": "", "beside": (), "expected": (), "given": ()}
    return {"key": key, "verdict": asked.judged.get(key), **empty, **shown}


def _sentences(asked: ItemToJudge) -> list[dict[str, Any]]:
    return [
        _part(
            asked,
            key,
            text=cut(sentence.text),
            beside=items.cited(sentence.citations, asked.row["contexts"]),
        )
        for key, sentence in zip(asked.parts, sentences(asked.row["answer"]), strict=False)
    ]


def _chunks(asked: ItemToJudge) -> list[dict[str, Any]]:
    chunks = zip(asked.parts, asked.row["retrieved_chunks"], strict=False)
    return [_part(asked, key, text=cut(text)) for key, text in chunks]


def _fields(asked: ItemToJudge) -> list[dict[str, Any]]:
    expected, given = asked.row["expected"], _read(asked.row["output"])
    return [
        _part(
            asked,
            name,
            label=items.item_label(EvaluationKind.JSON, name),
            expected=() if name == "grounding" else lines_of(expected.get(name)),
            given=_references(given) if name == "grounding" else lines_of(given.get(name)),
        )
        for name in asked.parts
    ]


def _references(given: Mapping[str, Any]) -> list[str]:
    entries = given.get("source_map")
    if not isinstance(entries, list):
        return lines_of(entries)
    found = []
    for entry in entries:
        refs = entry.get("refs") if isinstance(entry, dict) else None
        for ref in refs if isinstance(refs, list) else [entry]:
            anchors = ref.get("anchors") if isinstance(ref, dict) else None
            if not isinstance(anchors, list):
                found.append(cut(plain(ref)))
                continue
            words = ", ".join(f"“{plain(anchor)}”" for anchor in anchors)
            found.append(cut(f"{plain(ref.get('file'))}: {words}"))
    return found


def _read(output: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads((output or "").strip())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _address(evaluation_id: str, position: int, anchor: str | None = None) -> str:
    return url_for(
        "item_rating.show", evaluation_id=evaluation_id, position=position, _anchor=anchor
    )


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]
