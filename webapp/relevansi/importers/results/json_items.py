"""The entries of a list as documents, with the score and the grade that each states."""

from __future__ import annotations

from math import nan

from relevansi.importers.results.records import at, has_objects, literal, objects_in, text_at
from relevansi.importers.results.rows import (
    BARE_ID,
    Values,
    as_number,
    as_text,
    flattened,
    guessed,
    is_several,
    item_of,
)
from relevansi.importers.results.shapes import USUAL, Shape
from relevansi.kinds.document import Document

_ITEM_PATHS = ("doc_id", "title", "text", "url")
_PARTS = "partitions|passages|chunks|segments|sections|inner_hits.*.hits.hits"
"""Where an item without a text of its own has those of its passages."""
_GRADES = ("relevance", "relevant", "grade")
"""Names of a grade of a result where a whole number or a truth value stands."""


def item_in(shape: Shape, value: object) -> tuple[Document | None, float | None, object]:
    """The document, score (nan for what is no number) and grade that an entry of a list states."""
    match value:
        case str():
            parsed = literal(value) if value.startswith("{") else None
            if isinstance(parsed, dict):
                return item_in(shape, parsed)
            return (Document(text=as_text(value)) if value.strip() else None), None, None
        case [dict() as document, str() | int() | float() as score]:
            item, _, grade = item_in(shape, document)
            return item, as_number(score), grade
        case list():
            return _of_pair(value)
        case dict():
            return _of_object(shape, value)
    return None, None, None


def _of_object(shape: Shape, value: Values) -> tuple[Document | None, float | None, object]:
    block = parsed_block(value)
    values = flattened(block if isinstance(block, dict) else value)
    if isinstance(values.get("corpus_id"), int):  # a place among texts that are not here
        del values["corpus_id"]
    grade = next((at(value, path) for path in shape.grade.split("|") if path), None)
    for path in shape.grade.split("|"):
        values.pop(path, None)
    names = [name for name in _GRADES if isinstance(values.get(name), int)]
    if names and grade is None and shape.is_usual:
        grade = values.pop(names[0])
    roles = dict(guessed(tuple(values), of_item=True))
    for role in _ITEM_PATHS:
        paths = getattr(shape, role)
        if not paths:
            continue
        inners = ((path, at(value, path) or values.get(path)) for path in paths.split("|"))
        filled = ((path, inner) for path, inner in inners if as_text(inner).strip())
        path, inner = next(filled, ("", None))
        text = as_text(inner).strip()
        if role == "doc_id" and is_several(inner):
            return None, None, None  # several results in one
        is_address = role != "url" or text.startswith(("https://", "http://"))
        is_only = shape.is_mapped or role == "doc_id"  # elsewhere is the id of another thing
        if (path and is_address) or is_only:
            values.pop(path or paths, None)
            values[f"/{role}"] = text
            roles[role] = f"/{role}"
    if "text" not in roles:
        # Semantic Kernel has a name, a link and the text as the value of these.
        value_text = as_text(values.pop("value", "")) if {"title", "url"} <= roles.keys() else ""
        values["/text"], roles["text"] = _text_of_parts(value) or value_text, "/text"
    score = text_at(value, shape.score) if shape.score else values.get(roles.get("score", ""))
    parts = values.get(roles.get("text", ""))
    are_several = isinstance(parts, list) and sum(isinstance(part, str) for part in parts) > 1
    if are_several and not roles.keys() & {"doc_id", "title", "url"}:
        return None, None, None  # texts of several results, in whatever order
    number = as_number(score, comma=True)
    is_unusable = number is None and bool(as_text(score))
    return item_of(values, roles), nan if is_unusable else number, grade


def has_several_ids(value: object) -> bool:
    """Whether what an entry of a list has as its id is a list or an object."""
    values = flattened(value) if isinstance(value, dict) else {}
    return is_several(values.get(guessed(tuple(values), of_item=True).get("doc_id", "")))


def parsed_block(value: Values) -> object:
    """The JSON in a block of text, as tools answer; ``None`` for any other object."""
    return literal(as_text(value.get("text"))) if value.get("type") == "text" else None


def _text_of_parts(value: Values) -> str:
    """The texts of the passages that an item has in place of its own, a blank line between them."""
    lists = (at(value, path) for path in _PARTS.split("|"))
    parts = next((inner for inner in lists if isinstance(inner, list) and has_objects(inner)), [])
    items = [item_in(USUAL, part)[0] for part in objects_in(parts)]
    return "\n\n".join(item.text for item in items if item and item.text)


def _of_pair(cells: list[object]) -> tuple[Document | None, float | None, object]:
    """The document and score that a text beside a number states, or an id, its text and these."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.strip()]
    scores = [as_number(cell) for cell in cells if not isinstance(cell, str | bool)]
    if len(texts) + len(scores) != len(cells) or len(scores) > 1 or None in scores:
        return None, None, None
    is_id = bool(texts and BARE_ID.fullmatch(texts[0]))
    match texts:
        case [doc_id, text] if is_id:
            item = Document(doc_id=as_text(doc_id), text=as_text(text))
        case [text] if scores:
            item = Document(doc_id=text) if is_id else Document(text=as_text(text))
        case _:
            return None, None, None
    return item, scores[0] if scores else None, None
