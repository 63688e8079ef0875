"""Grades as files write them, and the verdicts of ours that they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor

from msgspec import Struct

from relevansi.importers.results.files import File
from relevansi.importers.results.rows import Row, as_number
from relevansi.importers.runs.problems import ImportRefused, error
from relevansi.records import Relevance, Scale

CANNOT_TELL = {"unsure", "cannot tell", "cannot_tell", "?"}
"""The texts of a grade that say that the rater could not tell."""
TRUTHS = {"true": "1", "false": "0"}
"""Grades that spreadsheets and JSON write as truth values."""
SHOWN_IDS = 5
LONGEST_REASON = 250


class Judged(Struct, frozen=True):
    """A verdict on an item from a file: a grade from 0 or "unsure"; ``identity`` is the item's.

    ``rater`` is "" where the file does not say whose it is, ``reason`` where it gives none.
    """

    external_id: str | None
    question: str
    identity: str
    verdict: str
    rater: str = ""
    reason: str = ""


def plain_grade(text: str) -> str:
    """A grade as tables of grades have it: numbers without zeros behind the point.

    >>> plain_grade("0.50"), plain_grade("Fair")
    ('0.5', 'fair')
    """
    number = as_number(text)
    return text.casefold() if number is None else f"{number:g}"


def grades_in(text: str) -> dict[str, str] | None:
    """A table of grades as it is typed, the file's to ours; ``None`` where it is not one.

    >>> grades_in("0=0, 0.50=1"), grades_in("0=a")
    ({'0': '0', '0.5': '1'}, None)
    """
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    table = {plain_grade(grade.strip()): here.strip() for grade, _, here in pairs}
    is_table = all(here in CANNOT_TELL or here.isdecimal() for here in table.values())
    return table if is_table and "" not in table else None


def verdict_of(grade: str, table: Mapping[str, str]) -> str:
    """The verdict that a grade is by a table, else as it stands; "" for none of a scale.

    One below 0 says that nobody judged.

    >>> verdict_of("2.0", {}), verdict_of("Fair", {"fair": "1"}), verdict_of("-1", {})
    ('2', '1', '-1')
    """
    text = table.get(plain_grade(grade)) or TRUTHS.get(grade.casefold(), grade)
    if text.casefold() in CANNOT_TELL:
        return str(Relevance.UNSURE)
    number = as_number(text)
    if number is None or (number > 0 and number % 1) or number > Scale.MOST:
        return ""
    return str(floor(number))


class UnfitGrades(ImportRefused):
    """Grades that no scale has; ``values`` are all those that no table has, each once."""

    values: tuple[str, ...] = ()


def unfit(file: File, row: Row, value: str, grades: Iterable[str]) -> UnfitGrades:
    values = sorted(grades, key=lambda grade: (as_number(grade) or 0, grade))
    table = ",".join(f"{value}=..." for value in values[:SHOWN_IDS])
    details = {"value": value[:40], "values": ", ".join(values[:SHOWN_IDS]), "table": table}
    refused = UnfitGrades(error("results_grades_unfit", file.name, details, line=row.line))
    refused.values = tuple(values)
    return refused
