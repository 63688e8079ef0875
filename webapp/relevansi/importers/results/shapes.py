"""Shapes of JSON: which object is a question, where its list of results is, what is which.

A shape is data, in ``shapes.toml``: paths of names with dots, here with | between alternatives.
What a shape does not say of an item is read by its usual names.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from relevansi.i18n import mark
from relevansi.importers.results.rows import (
    ITEM_ROLES,
    QUESTION_ROLES,
    WRAPPERS,
    Columns,
)

_SHAPES = tomllib.loads(Path(__file__).with_name("shapes.toml").read_text("utf-8"))
_USUAL = {role: "|".join(paths.split()) for role, paths in _SHAPES.pop("usual").items()}
_USUAL["answer"] += "|" + "|".join(QUESTION_ROLES["answer"].split())
QUERY = _USUAL["query"]
USUAL_ITEMS = _USUAL["items"]


class Shape(Struct, frozen=True):
    """How the objects of one tool are read: its name (a message id) and the paths in them.

    ``only`` is a path and the values there of objects that hold results; others are passed over.
    ``sign`` are paths at which a tool is known that has the lists of others. ``example`` is a file
    in ``examples``.
    """

    name: str
    example: str
    items: str
    query: str = QUERY
    query_id: str = "|".join(QUESTION_ROLES["query_id"].split()) + "|query.qid|query.id"
    system: str = _USUAL["system"]
    answer: str = _USUAL["answer"]
    category: str = "category|kategori"
    doc_id: str = ""
    title: str = ""
    text: str = ""
    url: str = ""
    rank: str = "rank|position|pos|peringkat"
    score: str = ""
    grade: str = "rating|relevance_grade"
    only: str = ""
    sign: str = ""

    @property
    def is_usual(self) -> bool:
        return self.items is USUAL_ITEMS

    @property
    def is_mapped(self) -> bool:
        """Whether a person chose its paths."""
        return self.name == MAPPED

    def before(self, columns: Columns) -> Shape:
        """This shape with the paths that a person chose before its own."""
        roles = (role for role, path in columns.items() if path and hasattr(self, role))
        paths = {role: f"{columns[role]}|{getattr(self, role)}".strip("|") for role in roles}
        return replace(self, **paths)


def _shape(name: str, paths: Mapping[str, str]) -> Shape:
    """The shape of a tool as its table has it."""
    alternatives = {role: "|".join(text.split()) for role, text in paths.items()}
    return Shape(name, **{role: text.format_map(_USUAL) for role, text in alternatives.items()})


SHAPES = (
    *(_shape(name, paths) for name, paths in _SHAPES.items()),
    Shape(mark("JSON with a list for each question"), "lists.jsonl", USUAL_ITEMS),
)
"""Every shape, the usual one last: the first that fits an object reads its file."""
USUAL = SHAPES[-1]
ENVELOPES = (
    "prediction|response|result|results|output|outputs|data|body|retrieved|retrieval|search|"
    "search_results|web"
)
"""Where the answer of an engine may stand beside its question."""
_PATHS = (*QUESTION_ROLES, *ITEM_ROLES, "items", "sign")
_OTHER_NAMES = "error|index|corpus_id|type|role|state|status"
NAMES = frozenset(
    name
    for shape in SHAPES
    for paths in (*(getattr(shape, field, "") for field in _PATHS), ENVELOPES, _OTHER_NAMES)
    for path in paths.split("|")
    for name in path.split(".")
) | {*WRAPPERS}
"""The names in the paths of all shapes."""
MAPPED = mark("JSON by the paths that were chosen")


def mapped(columns: Columns) -> Shape | None:
    """The shape that a person described by paths; ``None`` where they name no list."""
    if "items" not in columns:
        return None
    names = {role: path for role, path in columns.items() if role in Shape.__struct_fields__}
    unstated = {role: "" for role in (*QUESTION_ROLES, "rank", "grade") if hasattr(Shape, role)}
    return Shape(**{"name": MAPPED, "example": "", **unstated, **names})
