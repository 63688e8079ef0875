"""Items of evaluations for raters: ✓ or ✗ on each part, a grade, and never the machine's score.

These pages show nothing from a score: they are made from the scored row alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, redirect, render_template, url_for

from webapp.i18n import gettext, mark
from webapp.metrics.evaluations.answers import sentences
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.services.evaluations import evaluations, item_rating
from webapp.services.evaluations.evaluations import GRADE, MOST_PARTS, EvaluationKind
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
    with access.reading() as (session, rater):
        offers = item_rating.offers(session, rater)
    return render_template("evaluations/item_rating/index.html", offers=offers)


@blueprint.get("/<evaluation_id>/")
def next_one(evaluation_id: str) -> Response:
    """Lead to the next item that the rater has not finished; to the list if none is left."""
    with access.reading() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        position = item_rating.next_open(session, rater, found)
    if position is None:
        return _to(url_for("item_rating.index"))
    return _at(evaluation_id, position)


@blueprint.get("/<evaluation_id>/<int:position>")
def show(evaluation_id: str, position: int) -> Response:
    with access.reading() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        item = evaluations.find_item(session, found, position)
        judged = evaluations.judged(session, rater, item)
        offer = item_rating.offer(session, rater, found)
        next_open = item_rating.next_open(session, rater, found, position)
        can_undo = item_rating.may_undo(session, rater, found)
    kind, keys = EvaluationKind(found.kind), [part["key"] for part in item.parts[:MOST_PARTS]]
    contents = {
        EvaluationKind.ANSWERS: _sentences,
        EvaluationKind.CHUNKS: _chunks,
        EvaluationKind.JSON: _fields,
    }[kind](item.row, keys)
    parts = [
        _EMPTY | {"key": key, "verdict": judged.get(key)} | part
        for key, part in zip(keys, contents, strict=False)
    ]
    row, is_json = item.row, kind is EvaluationKind.JSON
    texts = row["contexts"] if is_json else ()
    expected = row.get("gold" if kind is EvaluationKind.ANSWERS else "expected_answer")
    return htmx.respond(
        "evaluations/item_rating/page.html",
        "evaluations/item_rating/_shown.html",
        offer=offer,
        title=gettext(EVALUATIONS[kind].title),
        position=position,
        next_open=next_open,
        can_undo=can_undo,
        question=str(row["question"]),
        expected=None if expected is None else cut(expected),
        parts=parts,
        contexts=[(one["source_path"], cut(one["text"])) for one in texts],
        output=cut(row["output"] or "") if is_json else "",
        asks=gettext(ASKS[kind]),
        grade=judged.get(GRADE),
        n_open=[*(part["verdict"] for part in parts), judged.get(GRADE)].count(None),
    )


@blueprint.post("/<evaluation_id>/<int:position>/judgment")
def judge(evaluation_id: str, position: int) -> Response:
    form = checked(PartForm)
    part, value = form.part.data, form.value.data
    with access.writing() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        item_rating.judge(session, rater, found, position, part, value, clicks.event())
        session.commit()
    if htmx.wants_part():
        return show(evaluation_id, position)
    return _at(evaluation_id, position, "grade" if part == GRADE else f"part-{part}")


@blueprint.post("/<evaluation_id>/undo")
def undo(evaluation_id: str) -> Response:
    """Take back the rater's latest change in the evaluation and show where it was."""
    with access.writing() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        where = item_rating.undo(session, rater, found, clicks.event())
        session.commit()
    if where is None:
        return _to(url_for("item_rating.next_one", evaluation_id=evaluation_id))
    return _at(evaluation_id, where)


_EMPTY: dict[str, Any] = {"label": "", "text": "", "beside": (), "expected": (), "given": ()}


def _sentences(row: Mapping[str, Any], _keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    for sentence in sentences(row["answer"]):
        beside = items.cited(sentence.citations, row["contexts"])
        yield {"text": cut(sentence.text), "beside": beside}


def _chunks(row: Mapping[str, Any], _keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    return ({"text": cut(text)} for text in row["retrieved_chunks"])


def _fields(row: Mapping[str, Any], keys: Sequence[str]) -> Iterator[dict[str, Any]]:
    given = _read(row["output"])
    for name in keys:
        is_grounding = name == "grounding"
        yield {
            "label": items.item_label(EvaluationKind.JSON, name),
            "expected": () if is_grounding else lines_of(row["expected"].get(name)),
            "given": _references(given) if is_grounding else lines_of(given.get(name)),
        }


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


def _at(evaluation_id: str, position: int, anchor: str | None = None) -> Response:
    place: dict[str, Any] = {"evaluation_id": evaluation_id, "position": position}
    return _to(url_for("item_rating.show", **place, _anchor=anchor))


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]
