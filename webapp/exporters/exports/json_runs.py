"""One run with every verdict in it as JSON values, for users' own scripts."""

from __future__ import annotations

from msgspec import Struct

from webapp.records import (
    Blindness,
    CannotTell,
    Card,
    CardParticulars,
    EmptyOutcome,
    GivenOn,
    Particulars,
    QueryState,
    Relevance,
)

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]

CARD_FIELDS = (
    "title",
    "url",
    "slug",
    "price",
    "price_max",
    "price_note",
    "price_period",
    "location",
    "bedrooms",
    "bathrooms",
    "land_area",
    "building_area",
    "floors",
    "certificate",
    "listing_type",
    "source",
)
"""The fields of a card in the order in which they are written."""

VERDICTS: dict[Relevance | None, int | str | None] = {
    Relevance.RELEVANT: 1,
    Relevance.NOT_RELEVANT: 0,
    Relevance.UNSURE: "unsure",
    None: None,
}
"""How a verdict is written."""


_NOTHING = CardParticulars()


class ExportedResult(Struct, frozen=True):
    """One property at its 1-based rank, with the verdict of the rule in force if any.

    ``particulars`` are what the files know of it beyond the fields of its card.
    """

    rank: int
    card: Card
    relevance: Relevance | None = None
    particulars: CardParticulars = _NOTHING


class ExportedQuery(Struct, frozen=True):
    """One question with its answer and its judgments; results in rank order.

    ``note`` is the owner's note on the question, which raters read.
    """

    query_id: int
    question: str
    category: str
    response: str
    state: QueryState
    results: tuple[ExportedResult, ...] = ()
    empty_outcome: EmptyOutcome | None = None
    quality: float | None = None
    notes: str = ""
    note: str = ""


class ExportedRun(Struct, frozen=True):
    """A run under one rule ("rater NAME", "majority", "adjudicated"), queries in run order.

    ``timestamp``, ``source_file`` and ``sha256`` are those of the imported file. ``unasked`` has
    the query ids that the study puts to nobody; they are not among the queries. ``blindness``
    is that of the verdicts behind the rule. ``cannot_tell`` is what such a result is in the study's
    precisions.
    """

    run: str
    rule: str
    queries: tuple[ExportedQuery, ...]
    cannot_tell: CannotTell
    search_method: str | None = None
    llm: str | None = None
    question_set: str | None = None
    timestamp: str | None = None
    source_file: str | None = None
    sha256: str | None = None
    unasked: tuple[int, ...] = ()
    blindness: Blindness = Blindness()


def run_json(run: ExportedRun) -> dict[str, JsonValue]:
    """`run` as one JSON document; null where nothing was judged or stated.

    A result's ``relevance`` is 1, 0, "unsure" or, unjudged, null. Whole areas and grades
    are whole numbers. ``not_asked`` is there only where a sample left questions out.
    """
    return {
        "run": run.run,
        "search_method": run.search_method,
        "llm": run.llm,
        "question_set": run.question_set,
        "timestamp": run.timestamp,
        "source_file": run.source_file,
        "sha256": run.sha256,
        "rule": run.rule,
        "cannot_tell": run.cannot_tell,
        "blindness": blindness_json(run.blindness),
        **({"not_asked": list(run.unasked)} if run.unasked else {}),
        "queries": [_query(query) for query in run.queries],
    }


def blindness_json(found: Blindness) -> dict[str, JsonValue]:
    """How many verdicts and grades were given blind, open (with the last one's time) or neither."""
    return {"verdicts": _given_on(found.verdicts), "grades": _given_on(found.grades)}


def whole(value: JsonValue) -> JsonValue:
    """`value`, as a whole number where it is one.

    >>> whole(105.0), whole(62.5), whole(None)
    (105, 62.5, None)
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _given_on(given: GivenOn) -> JsonValue:
    return {
        "n": given.n,
        "blind": given.blind,
        "open": given.open,
        "last_open": given.last_open.isoformat() if given.last_open else None,
        "unknown": given.unknown,
    }


def _query(query: ExportedQuery) -> dict[str, JsonValue]:
    return {
        "query_id": query.query_id,
        "question": query.question,
        "category": query.category,
        "response": query.response,
        "state": query.state.value,
        "empty_outcome": query.empty_outcome.value if query.empty_outcome else None,
        "quality": whole(query.quality),
        "notes": query.notes,
        "question_note": query.note,
        "results": [_result(result) for result in query.results],
    }


def _result(result: ExportedResult) -> dict[str, JsonValue]:
    fields = {name: whole(getattr(result.card, name)) for name in CARD_FIELDS}
    return {
        "rank": result.rank,
        **fields,
        "particulars": _particulars(result.particulars),
        "relevance": VERDICTS[result.relevance],
    }


def _particulars(known: CardParticulars) -> dict[str, JsonValue]:
    """The facts beyond the card, from the answer's text or its list; the record has its own key."""
    return {
        "headings": list(known.headings),
        "lines": list(known.lines),
        **_details(known.listed, known.listed_km),
        "asked_place": known.place or None,
        "record": {
            **_details(known.recorded, known.recorded_km),
            "card": {
                name: whole(value)
                for name in CARD_FIELDS
                if (value := getattr(known.record, name)) not in (None, "")
            },
        },
    }


def _details(said: Particulars, distance_km: float | None) -> dict[str, JsonValue]:
    return {
        "description": said.description or None,
        "features": list(said.features),
        "facts": dict(said.facts),
        "latitude": said.latitude,
        "longitude": said.longitude,
        "distance_km": distance_km,
    }
