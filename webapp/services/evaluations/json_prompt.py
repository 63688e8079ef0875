"""The fixed prompt of JSON answers: its version, its hash, and its text for a question."""

from __future__ import annotations

import re
from functools import cache
from hashlib import sha256

from webapp.config import resource
from webapp.metrics.evaluations.json_answers import JsonQuestion

VERSION = "eval_json_v2/1"
"""Another text needs another version."""

_PLACE = re.compile(r"\{(question|contexts)\}")


@cache
def text() -> str:
    """The prompt as its file has it, with the places {contexts} and {question}."""
    return (resource("templates") / "evaluations" / "eval_json_v2.md").read_text("utf-8")


def digest() -> str:
    """The SHA-256 of the prompt."""
    return sha256(text().encode()).hexdigest()


def filled(question: JsonQuestion) -> str:
    """The message to the model, filled in one pass: no text can open another place."""
    contexts = (
        f"[source_path: {context.source_path}]\n{context.text}" for context in question.contexts
    )
    values = {"question": question.question, "contexts": "\n\n".join(contexts) or "(none)"}
    return _PLACE.sub(lambda place: values[place[1]], text())
