"""A retriever asked over HTTP: one question, the contexts that a model is to answer from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping as Values

from msgspec import Struct

from webapp.chatbot import mappings
from webapp.chatbot.client import Endpoint, Patience, full_address
from webapp.chatbot.failures import RETRIEVER, NotTheContract
from webapp.i18n import mark
from webapp.metrics.evaluations.json_answers import Context

KEY_VARIABLE = "RELEVANSI_RETRIEVER_KEY"
_LISTS = ("contexts", "context")


class Retrieved(Struct, frozen=True):
    """The contexts of one question, and the version of the index if the answer names it."""

    contexts: tuple[Context, ...]
    index_version: str | None = None


class Retriever(Struct, frozen=True):
    """A retriever at an address; raises ``UnusableAddress`` for a text that is not an address."""

    address: str
    patience: Patience

    def __post_init__(self) -> None:
        full_address(self.address)

    def retrieve(self, row_id: str, question: str) -> Retrieved:
        """The contexts of a question; raises a ``CallFailed`` when every try failed."""
        endpoint = Endpoint(self.address, self.patience, who=RETRIEVER)
        return endpoint.ask({"id": row_id, "question": question}, headers(), read).value


def headers(environ: Values[str, str] = os.environ) -> dict[str, str]:
    """The header with the retriever's own key, if one is set; raises ``MissingKey``."""
    return mappings.filled_headers(mappings.bearer(KEY_VARIABLE, environ), environ)


def read(document: object) -> Retrieved:
    """The contexts in an answer; raises `NotTheContract`.

    >>> read({"context": [{"source_path": "a.md", "text": "Ada."}], "index_version": 7})
    Retrieved(contexts=(Context(source_path='a.md', text='Ada.'),), index_version='7')
    """
    excerpt = json.dumps(document, ensure_ascii=False)
    if not isinstance(document, dict):
        raise NotTheContract(mark("it is JSON, but not an object"), excerpt=excerpt)
    name = next((name for name in _LISTS if name in document), None)
    if name is None:
        what = mark('it has no list "contexts", only: %(known)s')
        raise NotTheContract(what, known=", ".join(list(document)[:8]) or "-", excerpt=excerpt)
    listed = document[name]
    if not isinstance(listed, list):
        raise NotTheContract(mark('"%(path)s" in it is not a list'), path=name, excerpt=excerpt)
    contexts = tuple(_context(raw, f"{name}[{n}]", excerpt) for n, raw in enumerate(listed))
    version = document.get("index_version")
    is_named = isinstance(version, str | int) and not isinstance(version, bool)
    return Retrieved(contexts, (str(version).strip() or None) if is_named else None)


def _context(raw: object, place: str, excerpt: str) -> Context:
    if not isinstance(raw, dict):
        raise NotTheContract(mark('"%(path)s" in it is not an object'), path=place, excerpt=excerpt)
    source_path, text = raw.get("source_path"), raw.get("text")
    if not isinstance(source_path, str) or not source_path.strip():
        wrong = f"{place}.source_path"
    elif not isinstance(text, str):
        wrong = f"{place}.text"
    else:
        return Context(source_path, text)
    raise NotTheContract(mark('"%(path)s" in it is not a text'), path=wrong, excerpt=excerpt)
