"""The form by which files are scored: its content, and the checks of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from flask import request

from webapp.i18n import gettext
from webapp.importers.runs.written_numbers import exact_number
from webapp.metrics.evaluations.json_answer_summary import Gate
from webapp.metrics.evaluations.similarity import Embedder, LexicalEmbedder
from webapp.printable import printable_line
from webapp.services.evaluations import embedders
from webapp.services.evaluations.files import ScoringSettings
from webapp.services.evaluations.rows import EvaluationKind
from webapp.services.evaluations.scoring import NamedBytes

ENDPOINT_VARIABLE = "RELEVANSI_EMBEDDINGS_URL"
MODEL_VARIABLE = "RELEVANSI_EMBEDDINGS_MODEL"
KEY_VARIABLE = "RELEVANSI_EMBEDDINGS_KEY"
_LONGEST_NUMBER = 12


class NotUploaded(ValueError):
    """The form is invalid; the text is the reason in the reader's language."""


@dataclass(frozen=True, slots=True)
class TypedUpload:
    """The content of the form as typed, to be shown again."""

    kind: str = "answers"
    embedder: str = ""
    tau_sim: str = ""
    keep_citations: bool = False
    min_average: str = "95"
    min_pass_rate: str = "0.98"  # noqa: S105 - no password
    first: str = ""
    stop_at_gate: bool = False


def typed() -> TypedUpload:
    """Return the request's form as it was typed."""
    said = request.form
    return TypedUpload(
        kind=said.get("kind", "")[:20],
        embedder=said.get("embedder", "")[:20],
        tau_sim=said.get("tau_sim", "").strip()[:_LONGEST_NUMBER],
        keep_citations="keep_citations" in said,
        min_average=said.get("min_average", "").strip()[:_LONGEST_NUMBER] or "95",
        min_pass_rate=said.get("min_pass_rate", "").strip()[:_LONGEST_NUMBER] or "0.98",
        first=said.get("first", "").strip()[:_LONGEST_NUMBER],
        stop_at_gate="stop_at_gate" in said,
    )


def settings(asked: TypedUpload) -> ScoringSettings:
    """Return the settings of the scoring; raises ``NotUploaded``, ``EmbedderUnusable``."""
    if asked.kind not in list(EvaluationKind):
        raise NotUploaded(gettext("Say first what kind of file it is."))
    tau_sim = _number(asked.tau_sim, -1, 1, gettext("Threshold (tau_sim)"))
    gate = Gate(
        _number(asked.min_average, 0, 100, gettext("Least mean score")) or Fraction(0),
        _number(asked.min_pass_rate, 0, 1, gettext("Least schema pass rate")) or Fraction(0),
    )
    kind = EvaluationKind(asked.kind)
    return ScoringSettings(
        kind=kind,
        embedder=_embedder(asked.embedder) if kind is EvaluationKind.ANSWERS else None,
        tau_sim=None if tau_sim is None else float(tau_sim),
        keep_citations=asked.keep_citations,
        gate=gate,
        first=_first(asked, kind),
        subset=_of_json("subset", kind, gettext("Only JSON answers have a dev set.")),
        stop_at_gate=asked.stop_at_gate,
        prompt=_of_json("prompt", kind, gettext("Only JSON answers state their prompt.")),
    )


def files(kind: EvaluationKind) -> tuple[NamedBytes, ...]:
    """Return the chosen files, for JSON answers one or two; raises ``NotUploaded``."""
    chosen = [request.files.get("file"), request.files.get("outputs")]
    found = tuple(
        NamedBytes(_name(one.filename), one.read()) for one in chosen if one and one.filename
    )
    if not found:
        raise NotUploaded(gettext("Please choose a file first."))
    if len(found) > 1 and kind is not EvaluationKind.JSON:
        raise NotUploaded(gettext("Only JSON answers come in two files."))
    first = chosen[0]
    if first is None or not first.filename:
        raise NotUploaded(gettext("Choose the questions too: the outputs alone say little."))
    return found


def endpoint_model() -> str:
    """Return the model of the configured embeddings endpoint; empty without one."""
    environ: Mapping[str, str] = os.environ
    return environ.get(MODEL_VARIABLE, "") if environ.get(ENDPOINT_VARIABLE) else ""


def _embedder(chosen: str) -> Embedder | None:
    if chosen == "lexical":
        return LexicalEmbedder()
    if chosen == "package":
        return embedders.packaged()
    if chosen == "endpoint" and endpoint_model():
        url, key = os.environ[ENDPOINT_VARIABLE], os.environ.get(KEY_VARIABLE)
        return embedders.endpoint(url, endpoint_model(), key)
    if chosen:
        raise NotUploaded(gettext("No embeddings endpoint is configured."))
    return None


def _number(text: str, low: int, high: int, name: str) -> Fraction | None:
    """Return the number that was typed, with a point or a comma; ``None`` for none."""
    if not text:
        return None
    number = exact_number(text.replace(",", "."))
    if number is None or not low <= number <= high:
        raise NotUploaded(
            gettext("%(name)s: a number from %(low)s to %(high)s.", name=name, low=low, high=high)
        )
    return number


def _first(asked: TypedUpload, kind: EvaluationKind) -> int | None:
    """Return the number of rows to score; ``None`` for all."""
    if not asked.first:
        return None
    if kind is EvaluationKind.JSON:
        raise NotUploaded(gettext("JSON answers have no first rows: give a dev set instead."))
    if not re.fullmatch("[0-9]{1,9}", asked.first) or not int(asked.first):
        raise NotUploaded(gettext("Only the first rows: a whole number from 1."))
    return int(asked.first)


def _of_json(field: str, kind: EvaluationKind, otherwise: str) -> NamedBytes | None:
    """Return the file chosen in a field that is for JSON answers, if there is one."""
    chosen = request.files.get(field)
    if chosen is None or not chosen.filename:
        return None
    if kind is not EvaluationKind.JSON:
        raise NotUploaded(otherwise)
    return NamedBytes(_name(chosen.filename), chosen.read())


def _name(filename: str | None) -> str:
    name = (filename or "").replace("\\", "/").rpartition("/")[2]
    return printable_line(name)[:200] or "file"
