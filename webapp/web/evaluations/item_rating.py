"""Items of evaluations for raters: ✓ or ✗ on each part, a grade, and never the machine's score.

These pages show nothing from a score: they are made from the scored row alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, redirect, render_template, url_for
from msgspec import Struct

from webapp.db.tables.evaluations import Evaluation
from webapp.i18n import gettext, mark
from webapp.metrics.evaluations.answers import sentences
from webapp.metrics.evaluations.registry import EVALUATIONS
from webapp.services.evaluations import item_rating
from webapp.services.evaluations.evaluations import GRADE, EvaluationKind
from webapp.services.evaluations.item_rating import ItemToJudge, Offer
from webapp.web.evaluations import items
from webapp.web.evaluations.evaluations import PartForm
from webapp.web.evaluations.items import cut, plain
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


class Text(Struct, frozen=True):
    """A named text that a part is judged by; ``None`` where no text has the name."""

    name: str
    text: str | None


class PartAsked(Struct, frozen=True):
    """One part to be judged: its name in the form, the rater's verdict, and the texts to read.

    ``label`` and the two sides are filled for a field, ``beside`` for a sentence.
    """

    key: str
    verdict: int | None
    label: str = ""
    text: str = ""
    beside: tuple[Text, ...] = ()
    expected: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


class ItemOffers(Struct, frozen=True):
    """The evaluations whose items wait for this rater."""

    offers: tuple[Offer, ...]


class ItemAsked(Struct, frozen=True):
    """One item to be judged without the machine's scores, with the ``contexts`` for its fields."""

    offer: Offer
    title: str
    asked: ItemToJudge
    question: str
    expected: str | None
    parts: tuple[PartAsked, ...]
    contexts: tuple[Text, ...]
    output: str
    asks: str
    grade: int | None
    n_open: int


@blueprint.get("/")
def index() -> str:
    """Show which evaluations wait for this rater, and how far they are."""
    with access.reading() as (session, rater):
        context = ItemOffers(item_rating.offers(session, rater))
    return render_template("evaluations/item_rating/index.html", **htmx.names(context))


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


def _item(evaluation_id: str, position: int) -> ItemAsked:
    with access.reading() as (session, rater):
        found = item_rating.find(session, rater, evaluation_id)
        asked = item_rating.item(session, rater, found, position)
        offer = item_rating.offer(session, rater, found)
    return _shown(found, asked, offer)


def _shown(found: Evaluation, asked: ItemToJudge, offer: Offer) -> ItemAsked:
    kind, row = EvaluationKind(found.kind), asked.row
    made = {
        EvaluationKind.ANSWERS: _sentences,
        EvaluationKind.CHUNKS: _chunks,
        EvaluationKind.JSON: _fields,
    }[kind]
    parts = tuple(made(asked))
    expected = row.get("gold") if kind is EvaluationKind.ANSWERS else row.get("expected_answer")
    grade = asked.judged.get(GRADE)
    return ItemAsked(
        offer=offer,
        title=gettext(EVALUATIONS[kind].title),
        asked=asked,
        question=str(row["question"]),
        expected=None if expected is None else cut(expected),
        parts=parts,
        contexts=_contexts(row) if kind is EvaluationKind.JSON else (),
        output=cut(row["output"] or "") if kind is EvaluationKind.JSON else "",
        asks=gettext(ASKS[kind]),
        grade=grade,
        n_open=sum(part.verdict is None for part in parts) + (grade is None),
    )


def _sentences(asked: ItemToJudge) -> list[PartAsked]:
    """The sentences of an answer, each beside the contexts it cites."""
    contexts: Mapping[str, str] = asked.row["contexts"]
    return [
        PartAsked(
            key=key,
            verdict=asked.judged.get(key),
            text=cut(sentence.text),
            beside=tuple(
                Text(name, cut(contexts[name]) if name in contexts else None)
                for name in dict.fromkeys(sentence.citations)
            ),
        )
        for key, sentence in zip(asked.parts, sentences(asked.row["answer"]), strict=False)
    ]


def _chunks(asked: ItemToJudge) -> list[PartAsked]:
    chunks = zip(asked.parts, asked.row["retrieved_chunks"], strict=False)
    return [PartAsked(key, asked.judged.get(key), text=cut(text)) for key, text in chunks]


def _fields(asked: ItemToJudge) -> list[PartAsked]:
    """The fields of an answer, expected and given side by side, as far as there is JSON."""
    expected, given = asked.row["expected"], _read(asked.row["output"])
    return [
        PartAsked(
            key=name,
            verdict=asked.judged.get(name),
            label=items.item_label(EvaluationKind.JSON, name),
            expected=() if name == "grounding" else _lines(expected.get(name)),
            given=_references(given) if name == "grounding" else _lines(given.get(name)),
        )
        for name in asked.parts
    ]


def _references(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The files that an answer refers to, with its quotations; else the value as it is."""
    entries = given.get("source_map")
    if not isinstance(entries, list):
        return _lines(entries)
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
    return tuple(found)


def _contexts(row: Mapping[str, Any]) -> tuple[Text, ...]:
    return tuple(Text(one["source_path"], cut(one["text"])) for one in row["contexts"])


def _read(output: str | None) -> Mapping[str, Any]:
    """Return the fields of an output that is a JSON object; the output is shown raw too."""
    try:
        value = json.loads((output or "").strip())
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _lines(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(cut(plain(one)) for one in (value if isinstance(value, list) else [value]))


def _address(evaluation_id: str, position: int, anchor: str | None = None) -> str:
    return url_for(
        "item_rating.show", evaluation_id=evaluation_id, position=position, _anchor=anchor
    )


def _to(address: str) -> Response:
    return redirect(address, 303)  # type: ignore[return-value]
