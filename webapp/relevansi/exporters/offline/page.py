"""One HTML file in which a run is rated without a server: all it needs is inside it.

The file loads nothing, and its content policy lets it load and send nothing. Its pages are
the app's templates, its script is the rating page's own with another outbox (see
``static/offline/offline.js``), and each answer is in it once, cleaned as in the app.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment
from msgspec import Struct

from relevansi.config import resource
from relevansi.exporters.exports.judging_sentences import unsampled_sentence
from relevansi.exporters.frame.csv_cells import cell_text
from relevansi.exporters.frame.json_files import fields
from relevansi.exporters.frame.scripts import bundled
from relevansi.i18n import LANGUAGES, direction, gettext, language, language_name, speaking
from relevansi.kinds.property import CardParticulars
from relevansi.metrics.judging.figures import HEADLINES
from relevansi.metrics.judging.queries import EXPLANATIONS
from relevansi.metrics.judging.registry import MEASURES
from relevansi.records import CannotTell, Item, QueryState

FORMAT = "relevansi offline ratings"
VERSION = 1
STYLES = (
    *("vendor/modern-normalize.css", "frame/tokens.css", "frame/ground.css"),
    *("rating/rating.css", "offline/offline.css"),
)
RATING = (
    *("question", "clicks", "notes", "saving", "next_act", "focus", "moving", "undoing"),
    "rating",
)
SCRIPTS = {
    "elements.js": "frame/elements.js",
    "memory.js": "frame/memory.js",
    "drafts.js": "frame/drafts.js",
    "figures.js": "offline/figures.js",
    "csv.js": "offline/csv.js",
    "book.js": "offline/book.js",
    "table.js": "offline/table.js",
    "reasons.js": "rating/reasons.js",
    "looking.js": "rating/looking.js",
    "outbox.js": "offline/offline.js",  # the rating page's script finds this where its outbox was
    "page.js": "frame/page.js",
    "keys.js": "rating/keys.js",
    **{f"{name}.js": f"rating/{name}.js" for name in RATING},
}
"""The scripts in the order in which they run: the name others import, and the file."""


class OfflineCard(Struct, frozen=True):
    """One card to judge; cards with the same `item_number` are judged by one verdict.

    ``identity`` is the property's, to recognise it by when the ratings come back.
    ``particulars`` are the facts that unfold under it. ``relevance``, ``reason`` and ``earlier``
    are the fields in which the app's card shows a rater's verdicts; here no rater is known yet.
    """

    number: int
    card: Item
    item_number: int
    identity: str
    repeats: tuple[int, ...] = ()
    particulars: CardParticulars | None = None
    has_prices: bool = False
    relevance: None = None
    reason: None = None
    earlier: None = None
    key: str = ""


class OfflineTurn(Struct, frozen=True):
    """An earlier question of the conversation, ``query_id`` of the run, with its answer."""

    query_id: int
    question: str
    response: str = ""


class OfflineQuestion(Struct, frozen=True):
    """One question of the run with its answer and the owner's note, as the rating page has them.

    ``asks_quality``: the quality of its answer is asked. ``holes`` are the ranks whose results
    could not be read, ``shared`` what all cards state alike.
    """

    query_id: int
    question: str
    category: str
    context_dependent: bool
    state: QueryState
    response: str
    error: str | None = None
    note: str = ""
    turns: tuple[OfflineTurn, ...] = ()
    cards: tuple[OfflineCard, ...] = ()
    holes: tuple[int, ...] = ()
    asks_quality: bool = True
    shared: Mapping[str, str] = {}


class OfflineRun(Struct, frozen=True):
    """A run to be rated from a file. ``identity`` leads its ratings back to it.

    ``name`` becomes part of the names of the files that are downloaded. In the ``blind``
    form neither the labels nor that name give away the search method. ``unasked`` are the query
    ids that a sample left out: they are not among the questions. ``suggests``: a grade is offered
    once all cards are judged. ``cannot_tell`` is what such a card is in the study's precisions.
    ``headline`` are the study's figures: the page counts those of the method alone, and leaves out
    its panel where others are wanted. ``marks_words``: words of the question are marked.
    ``reasons`` are those why a card is not relevant, ``guidelines`` the raters', by language.
    """

    identity: str
    name: str
    questions: tuple[OfflineQuestion, ...]
    blind: bool
    cannot_tell: CannotTell
    search_method: str | None = None
    llm: str | None = None
    version: str = ""
    unasked: tuple[int, ...] = ()
    suggests: bool = True
    headline: tuple[str, ...] = HEADLINES
    marks_words: bool = True
    top: int = 1
    reasons: tuple[str, ...] = ()
    guidelines: Mapping[str, str] = {}

    @property
    def has_figures(self) -> bool:
        """Whether the page counts figures: its script knows those of the method alone."""
        return self.top == 1 and set(self.headline) <= set(HEADLINES)


def page(environment: Environment, run: OfflineRun) -> bytes:
    """The file of `run`, from the app's templates in `environment`; equal for equal runs."""
    style = "\n".join(_static(name) for name in STYLES)
    first, script = _static("frame/first.js"), bundle()
    policy = (
        f"default-src 'none'; script-src {_digest(first)} {_digest(script)}; "
        f"style-src {_digest(style)}; base-uri 'none'; form-action 'none'"
    )
    lines = [
        "<!doctype html>",
        f'<html lang="{LANGUAGES[0]}">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="referrer" content="no-referrer">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        "<title>Relevansi</title>",
        f"<style>{style}</style>",
        f"<script>{first}</script>",
        "</head>",
        "<body>",
        "<noscript>",
        *map(_without_scripts, LANGUAGES),
        "</noscript>",
        *_answers(environment, run),
        *(_body(environment, run, code) for code in LANGUAGES),
        f'<script type="application/json" id="run">{_data(run)}</script>',
        f'<script type="module">{script}</script>',
        "</body>",
        "</html>",
    ]
    return ("\n".join(lines) + "\n").encode()


def bundle(scripts: Mapping[str, str] = SCRIPTS) -> str:
    """Return scripts, named as others import them, as one module."""
    return bundled({name: _static(file) for name, file in scripts.items()})


def _static(name: str) -> str:
    return Path(resource("static"), name).read_text("utf-8").strip()


def _digest(text: str) -> str:
    """What a content policy names a script or a style by."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _without_scripts(code: str) -> str:
    with speaking(code):
        text = gettext("This page needs JavaScript: without it nothing you rate can be kept.")
    return f'<p lang="{code}">{escape(text)}</p>'


def _answers(environment: Environment, run: OfflineRun) -> Iterator[str]:
    """Each answer once, cleaned: both languages and every follow-up show the same text."""
    render = environment.filters["render"]
    responses: dict[int, str] = {}
    for question in run.questions:
        for turn in question.turns:
            responses.setdefault(turn.query_id, turn.response)
        responses[question.query_id] = question.response
    for query_id, response in responses.items():
        if response.strip():
            yield f'<template id="prose-{query_id}">{render(response)}</template>'


def _body(environment: Environment, run: OfflineRun, code: str) -> str:
    """Return all pages of the run in one language, as a template that the script shows."""
    with speaking(code):
        html = environment.get_template("offline/_page.html").render(
            run=run,
            measures=tuple(MEASURES[name] for name in HEADLINES),
            reasons={str(key): gettext(text) for key, text in EXPLANATIONS.items()},
            unasked=unsampled_sentence(run.unasked),
            language=language(),
            languages={each: language_name(each) for each in LANGUAGES},
        )
        attributes = f'lang="{code}" dir="{direction()}"'
    unindented = re.sub(r"\n\s+", "\n", html)  # the file has each card twice, in two languages
    return f"<template {attributes}>{unindented}</template>"


def _data(run: OfflineRun) -> str:
    """The data of the script, as JSON that no answer can break out of."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        **fields(run, "identity", "name", "blind", "suggests", "cannot_tell"),
        "queries": list(map(_query, run.questions)),
    }
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _query(question: OfflineQuestion) -> dict[str, Any]:
    count = None if question.state is QueryState.UNREADABLE else len(question.cards)
    # The first cells of its line in the rated CSV, which the page writes.
    first_cells = (question.query_id, question.question, question.category, count)
    return {
        **fields(question, "query_id", "question", "category"),
        "state": str(question.state),
        **({} if question.asks_quality else {"asks_quality": False}),
        "cells": [cell_text(cell) for cell in first_cells],
        "results": [
            {
                "rank": card.number,
                "item": card.item_number,
                "title": card.card.title,
                "identity": card.identity,
            }
            for card in question.cards
        ],
    }
