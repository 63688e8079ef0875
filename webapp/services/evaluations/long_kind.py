"""Large files that are scored beside the requests and stored as an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from fractions import Fraction
from typing import Any

from msgspec.structs import asdict
from sqlalchemy.orm import Session

from webapp import i18n
from webapp.db.tables.study import Study
from webapp.exporters.evaluations.score_documents import WaitingRows
from webapp.importers.runs.problems import ImportRefused
from webapp.metrics.evaluations.json_answers import Gate
from webapp.services.evaluations import evaluations, files, scoring
from webapp.services.evaluations.evaluations import EvaluationKind
from webapp.services.evaluations.files import ScoringSettings
from webapp.services.evaluations.scoring import EmbedderUnusable, NamedBytes, VectorEmbedder
from webapp.services.runs import waiting_files
from webapp.services.workers.long_work import Finish, Make
from webapp.steps import Tell

SCORING = "scoring"

LONG_FROM = 1_000_000
"""From so many bytes on scoring takes longer than a page should: seconds for 10 MB."""

LONG_FROM_WITH_MODEL = 20_000
"""The same where a model makes vectors of every text."""


def is_long(settings: ScoringSettings, chosen: Sequence[NamedBytes]) -> bool:
    """Whether scoring these files takes longer than a page should."""
    has_model = isinstance(settings.embedder, VectorEmbedder)
    size = sum(len(file.data) for file in chosen)
    return size >= (LONG_FROM_WITH_MODEL if has_model else LONG_FROM)


def put_by(
    session: Session,
    study: Study,
    settings: ScoringSettings,
    embedder: str,
    chosen: Sequence[NamedBytes],
    now: datetime,
) -> dict[str, Any]:
    """Return what names the scoring of files, which wait as uploads until they are scored.

    `embedder` is the name of that in `settings`.
    """

    def kept(file: NamedBytes | None) -> str | None:
        return waiting_files.keep(session, study, file.name, file.data, now) if file else None

    return {
        "files": [kept(file) for file in chosen],
        "names": [file.name for file in chosen],
        "subset": kept(settings.subset),
        "prompt": kept(settings.prompt),
        "kind": str(settings.kind),
        "embedder": embedder,
        "tau_sim": settings.tau_sim,
        "keep_citations": settings.keep_citations,
        "gate": [str(settings.gate.min_average), str(settings.gate.min_pass_rate)],
        "first": settings.first,
        "stop_at_gate": settings.stop_at_gate,
        "language": i18n.language(),
    }


def score(session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell) -> Finish:
    """Return how the evaluation is stored, or why its files are refused.

    The result names the evaluation, and whether it was here before; or it has the problems of the
    files, or a sentence about the embedder. Raises ``UnknownUpload``.
    """

    def given(token: str | None) -> NamedBytes | None:
        file = waiting_files.find(session, study, token) if token else None
        return NamedBytes(file.name, file.data) if file else None

    chosen = [file for file in map(given, wanted["files"]) if file]
    try:
        with ExitStack() as opened, i18n.speaking(wanted["language"]):
            rows = opened.enter_context(WaitingRows())
            average, rate = map(Fraction, wanted["gate"])
            settings = ScoringSettings(
                kind=EvaluationKind(wanted["kind"]),
                embedder=scoring.chosen_embedder(wanted["embedder"]),
                tau_sim=wanted["tau_sim"],
                keep_citations=wanted["keep_citations"],
                gate=Gate(average, rate),
                first=wanted["first"],
                subset=given(wanted["subset"]),
                stop_at_gate=wanted["stop_at_gate"],
                prompt=given(wanted["prompt"]),
            )
            scored = files.score(settings, chosen, rows, tell)
            waiting = opened.pop_all()
    except ImportRefused as refused:
        return _refusal(wanted, problems=[asdict(one) for one in refused.problems])
    except EmbedderUnusable as unusable:
        return _refusal(wanted, sentence=str(unusable))

    def finish(session: Session, study: Study, now: datetime) -> dict[str, Any]:
        with waiting:
            stored = evaluations.store(session, study, scored, rows, now)
        _discard(session, study, wanted)
        return {"evaluation": stored.id, "again": stored.again}

    return finish


def _refusal(wanted: Mapping[str, Any], **why: Any) -> Finish:
    """Return how files are forgotten that cannot be scored."""

    def finish(session: Session, study: Study, _now: datetime) -> dict[str, Any]:
        _discard(session, study, wanted)
        return why

    return finish


def _discard(session: Session, study: Study, wanted: Mapping[str, Any]) -> None:
    for token in (*wanted["files"], wanted["subset"], wanted["prompt"]):
        if token:
            waiting_files.discard(session, waiting_files.find(session, study, token))


KINDS: Mapping[str, Make] = {SCORING: score}
