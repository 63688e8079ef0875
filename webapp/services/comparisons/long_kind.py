"""Comparisons of many answers or long files, made beside the requests and kept for a day."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from fractions import Fraction
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from webapp import i18n
from webapp.db.tables.runs import Query
from webapp.db.tables.study import Study
from webapp.failures import Missing
from webapp.metrics.comparisons.report import ComparisonReport
from webapp.services.comparisons import chosen_runs, comparisons, rated_comparisons
from webapp.services.comparisons.chosen_runs import DifferentQuestions, NothingToCompare
from webapp.services.comparisons.rated_comparisons import RatedComparison, RatedCsv
from webapp.services.exports.exports import ExportedFile
from webapp.services.runs import reports, uploads
from webapp.services.runs.reports import Rule
from webapp.services.workers import long_work
from webapp.services.workers.long_work import Make
from webapp.steps import Tell

COMPARISON = "comparison"
FILES = "comparison of files"
MEDIA_TYPE = "application/msgpack"

Found = TypeVar("Found")

LONG_FROM = 1000
"""From so many answers on a comparison takes longer than a page should: seconds for 3,000."""


class KeptComparison(Struct, frozen=True):
    """A comparison that was kept, and when it was asked for."""

    report: ComparisonReport
    asked_at: datetime


def wanted(run_ids: Sequence[str], rule: Rule) -> dict[str, Any]:
    """Return what names a comparison: its runs, its rule, and the language of its names."""
    runs = list(dict.fromkeys(run_ids))
    return {"runs": runs, "rule": rule.name, "language": i18n.language()}


def are_long(files: Sequence[RatedCsv]) -> bool:
    """Whether the comparison of these files takes longer than a page should.

    Raises what ``rated_comparisons.read`` raises for files that cannot be compared.
    """
    lines = sum(file.data.count(b"\n") for file in files)
    return lines >= LONG_FROM and bool(rated_comparisons.read(files))


def is_long(session: Session, study: Study, run_ids: Sequence[str]) -> bool:
    """Whether these runs can be compared, and that takes longer than a page should."""
    answers = select(func.count()).select_from(Query).where(Query.run_id.in_(run_ids))
    if (session.scalar(answers) or 0) < LONG_FROM:
        return False
    with suppress(NothingToCompare, DifferentQuestions):
        return bool(chosen_runs.comparable(session, study, run_ids))
    return False


def wanted_files(
    tokens: Sequence[str], files: Sequence[RatedCsv], phase: int | None
) -> dict[str, Any]:
    """Return what names a comparison of files that wait: under which tokens, and their labels."""
    labels = [file.label for file in files]
    return {"tokens": [*tokens], "labels": labels, "phase": phase, "language": i18n.language()}


def make(session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell) -> ExportedFile:
    """Return the comparison to be kept; raises what ``comparisons.report`` raises."""
    with i18n.speaking(wanted["language"]):
        rule = reports.rule_of(session, study, wanted["rule"])
        report = comparisons.report(session, study, wanted["runs"], rule, tell=tell)
    return ExportedFile("comparison.msgpack", MEDIA_TYPE, encoded(report))


def make_of_files(
    session: Session, study: Study, wanted: Mapping[str, Any], tell: Tell
) -> ExportedFile:
    """Return the comparison of files to be kept; raises what ``compare_files`` raises."""
    waiting = [uploads.find(session, study, token) for token in wanted["tokens"]]
    files = [
        RatedCsv(file.name, file.data, label)
        for file, label in zip(waiting, wanted["labels"], strict=True)
    ]
    with i18n.speaking(wanted["language"]):
        found = rated_comparisons.compare_files(files, phase=wanted["phase"], tell=tell)
    return ExportedFile("comparison.msgpack", MEDIA_TYPE, msgspec.msgpack.encode(found))


def find(
    session: Session, study: Study, work_id: str, wanted: Mapping[str, Any]
) -> KeptComparison | None:
    """Return the comparison that a work kept; ``None`` where it is gone, or is another one."""
    found = _kept(session, study, work_id, wanted, decoded)
    return KeptComparison(*found) if found else None


def find_of_files(
    session: Session, study: Study, work_id: str, wanted: Mapping[str, Any]
) -> RatedComparison | None:
    """Return the comparison of files that a work kept, as ``find`` does."""
    read = msgspec.msgpack.Decoder(RatedComparison).decode
    found = _kept(session, study, work_id, wanted, read)
    return found[0] if found else None


def _kept(
    session: Session,
    study: Study,
    work_id: str,
    wanted: Mapping[str, Any],
    read: Callable[[bytes], Found],
) -> tuple[Found, datetime] | None:
    """Return the result of a work for what is `wanted`, and when it was put down."""
    try:
        work = long_work.find(session, study, work_id)
        if work.wanted != wanted:
            return None
        return read(long_work.file(session, study, work_id).data), work.put_down_at
    except (Missing, msgspec.DecodeError):  # an earlier version of the product kept it
        return None


def encoded(report: ComparisonReport) -> bytes:
    """Return a report in the form in which it is kept."""
    return msgspec.msgpack.encode(report, enc_hook=_plain)


def decoded(data: bytes) -> ComparisonReport:
    """Return the report kept as `data`, equal to the one encoded; raises ``DecodeError``."""
    report = msgspec.msgpack.decode(data, type=ComparisonReport, dec_hook=read_fraction)
    kinds = {wing.PART: wing.VALUE for wing in comparisons.part_modules()}
    parts = (
        replace(part, value=msgspec.convert(part.value, kinds[part.name], dec_hook=read_fraction))
        for part in report.parts
        if part.name in kinds
    )
    return replace(report, parts=tuple(parts))


def _plain(value: object) -> str | dict[Any, Any]:
    """Return a value that msgpack does not know as one that it does."""
    if isinstance(value, Mapping):
        return dict(value)
    assert isinstance(value, Fraction), value
    return str(value)


def read_fraction(kind: type, written: str) -> Fraction:
    """Return a fraction as it was written; msgspec asks for every other type that it lacks."""
    assert kind is Fraction, kind
    return Fraction(written)


KINDS: Mapping[str, Make] = {COMPARISON: make, FILES: make_of_files}
