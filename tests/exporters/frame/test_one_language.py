"""Every report is in one language: no sentence of the other one's catalogue is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, time
from fractions import Fraction
from functools import partial
from html import unescape
from io import BytesIO

import openpyxl
import pytest
from jinja2 import Environment
from msgspec.structs import replace

from tests.exporters.comparisons.comparisons import DAY, three_runs
from tests.exporters.phase_3.user_studies import user_study_report
from tests.exporters.reports import CORRECT_EMPTY, FAILED, FALSE_NEGATIVE, report, row
from tests.metrics.gold.test_constraint_comparison import DEAR, GOOD, LAND, contender
from tests.services.evaluations import scored_files
from tests.services.gold.gold_files import gold_bytes, v2_file
from tests.test_translations import pairs
from webapp import labels
from webapp.app import create_app
from webapp.cli.agreement.agreement import agreement_tables
from webapp.cli.evaluations.score_tables import constraints_table, report_table
from webapp.cli.exports import figures
from webapp.config import Settings
from webapp.exporters.comparisons import files as comparison_files
from webapp.exporters.comparisons.charts.pictures import FORMATS as PICTURES
from webapp.exporters.comparisons.charts.pictures import PictureChoice
from webapp.exporters.evaluations import score_documents, score_reports
from webapp.exporters.exports.measures import measures_markdown
from webapp.exporters.exports.metrics_tables import metrics_markdown
from webapp.exporters.exports.run_reports import runs_markdown
from webapp.exporters.frame.tables import Document
from webapp.exporters.offline import page as offline_page
from webapp.exporters.offline.page import OfflineCard, OfflineQuestion, OfflineRun, OfflineTurn
from webapp.exporters.phase_3 import files as user_study_files
from webapp.exporters.proof_packs.readme import readme
from webapp.i18n import speaking
from webapp.importers.evaluations import expected_json
from webapp.metrics.agreement.report import (
    AgreementReport,
    ItemKind,
    LabelledItem,
    consistency,
    of_kind,
)
from webapp.metrics.comparisons.report import ComparisonPart, ComparisonReport
from webapp.metrics.comparisons.resampling import Bootstrap, Resampling
from webapp.metrics.evaluations.answers import AnswerScale
from webapp.metrics.evaluations.json_answer_summary import Gate
from webapp.metrics.gold.constraint_comparison import PART, compare_constraints
from webapp.metrics.gold.constraints import MissingRule
from webapp.records import Card, CardParticulars, Particulars, Problem, QueryState
from webapp.services.evaluations import scoring

PLACE = re.compile(r"%\(\w+\)s|%%")
CATEGORIES = ("location_simple", "nearby_price")
RATERS = ("Ani", "Budi", "Citra")
GRADES = ((4.0, 5.0, 3.0), (2.0, 2.0, 0.0))
FEW = Bootstrap(resamples=5)
SHORTEST = 13
"""Shorter texts are names and field terms that may be the same in both languages."""

READ = ("markdown", "latex", "html", "xlsx")

CITATION = re.compile("^- (?:Source|Sumber): .*$", re.MULTILINE)
"""A citation is in the language of what it cites."""
ENGLISH_DECIMALS = re.compile(r"(?<![\w./])\d+\.(?:\d\d|\d{4,})(?![\w.])")
"""Three digits after a point are thousands in Indonesian."""

MARKUP = re.compile(r"<style.*?</style>|<[^>]+>", re.DOTALL)


def _text(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    return _cells(data) if data.startswith(b"PK") else data.decode()


def _cells(data: bytes) -> str:
    """Return the texts of a workbook; its numbers are written by the spreadsheet."""
    sheets = openpyxl.load_workbook(BytesIO(data)).worksheets
    rows = (values for sheet in sheets for values in sheet.iter_rows(values_only=True))
    return "\n".join(value for values in rows for value in values if isinstance(value, str))


def _checked_runs() -> ComparisonReport:
    """Return a comparison under V2 too, with a pending card and a run without its own list."""
    runs = (
        contender("a", (GOOD, DEAR), (GOOD,), (), (GOOD,)),
        contender("b", (LAND,), (), (LAND,), (), not_run=(4,)),
        replace(contender("c", (DEAR,), (LAND,), (), (GOOD,)), from_text=True),
    )
    compared = compare_constraints(
        runs, gold="g", version=1, threshold=Fraction(1, 2), settings=Resampling(resamples=200)
    )
    return replace(three_runs(), parts=(ComparisonPart(PART, compared),))


def _untouched(_score: object) -> None:
    """Leave a score to the summary alone."""


def _untold(problem: Problem) -> None:
    raise AssertionError(problem)


def _answers() -> Document:
    scale, file = AnswerScale(None, 0.6), BytesIO(scored_files.lines(*scored_files.ANSWERS))
    found = scoring.score_answers("a.jsonl", file, scale, _untouched, _untold, first=2)
    return score_reports.report("answers", "a.jsonl", found.head | {"left_out": 1}, found.figures)


def _chunks() -> Document:
    file = BytesIO(scored_files.lines(*scored_files.CHUNKS))
    found = scoring.score_chunks("c.jsonl", file, _untouched, _untold)
    return score_reports.report("chunks", "c.jsonl", found.head, found.figures)


def _json() -> Document:
    answered = expected_json.read("j.json", scored_files.document(scored_files.JSON_SET))
    found = scoring.json_scoring(answered, gate=Gate(), subset=("j1",), stop_at_gate=False)
    head = score_documents.json_head(answered.provenance, found.summary, found.subset)
    return score_reports.report(
        "json-v2", "j.json", head, score_documents.json_figures(found.summary)
    )


def _agreement() -> AgreementReport:
    """Return agreement on cards of two categories, on no empty list and on quality, over time."""
    said = ("111", "101", "01?", "110", "000", "1 1")
    cards = [
        LabelledItem(
            CATEGORIES[number % 2], _votes(signs), datetime.combine(DAY, time(number), UTC)
        )
        for number, signs in enumerate(said)
    ]
    grades = [LabelledItem(CATEGORIES[0], dict(zip(RATERS, row, strict=True))) for row in GRADES]
    kinds: tuple[tuple[ItemKind, list[LabelledItem]], ...] = (
        (ItemKind.CARDS, cards),
        (ItemKind.EMPTY_LISTS, []),
        (ItemKind.QUALITY, grades),
    )
    return AgreementReport(
        RATERS,
        tuple(of_kind(kind, RATERS, items, FEW) for kind, items in kinds),
        (
            consistency("Ani", ItemKind.CARDS, [("1", "1"), ("0", "1")], FEW),
            consistency("Budi", ItemKind.QUALITY, [(4, None)], FEW),
        ),
        FEW,
    )


def _votes(signs: str) -> dict[str, str | float]:
    verdicts = zip(RATERS, signs, strict=True)
    return {name: "unsure" if sign == "?" else sign for name, sign in verdicts if sign != " "}


def _offline_run(*, blind: bool) -> OfflineRun:
    """Return a run with an answer of every state, and a card of which everything is known."""
    fields = {
        "url": "https://x.id/a", "price": 1_670_000_000, "price_max": 2_000_000_000,
        "price_note": "nego", "location": "Medan", "bedrooms": 3, "bathrooms": 2,
        "land_area": 102.5, "building_area": 90.0, "floors": 2, "certificate": "SHM",
        "listing_type": "sale", "source": "listing",
    }  # fmt: skip
    rent = {"price": 650_000_000, "price_period": "year", "listing_type": "rent"}
    particulars = Particulars("x", ("x",), (("address", "x"), ("furnished", True)), 3.58, 98.67)
    known = CardParticulars(
        headings=("x",), lines=("x" * 200,), listed=particulars, recorded=particulars,
        record=Card("b", price=5), place="USU", listed_km=1.25, recorded_km=0.75,
    )  # fmt: skip
    cards = (
        OfflineCard(1, Card("a", **fields), 0, "slug:a", (3,), known),  # type: ignore[arg-type]
        OfflineCard(2, Card("b", **rent), 1, "slug:b"),  # type: ignore[arg-type]
        OfflineCard(3, Card("a", source="project"), 0, "slug:a", (1,)),
    )
    turn = OfflineTurn(1, "cari rumah")
    questions = [
        OfflineQuestion(
            *(number, "cari rumah", category, number > 1, state, "x" if cards else ""),
            error="timeout" if state is QueryState.FAILED else None,
            note="x",
            turns=(turn,) if number > 1 else (),
            cards=cards if state is QueryState.RESULTS else (),
        )
        for number, (category, state) in enumerate(
            zip([*labels.CATEGORIES], QueryState, strict=False), start=1
        )
    ]
    return OfflineRun("ab", "x", tuple(questions), blind, "hybrid", "openai", "1")


def _constraints(missing: MissingRule) -> str:
    gold, results = (scoring.NamedBytes("f.json", data) for data in (gold_bytes(), v2_file()))
    found = scoring.constraint_scoring(gold, results, None, threshold=None, missing=missing)
    return constraints_table(found.report).decode()


SCORES = {"answers": _answers, "chunks": _chunks, "json-v2": _json}
PRINTED: Mapping[str, Callable[[Document], bytes | str]] = {
    **score_reports.WRITERS,
    "table": report_table,
}


REPORTS: Mapping[str, Callable[[], bytes | str]] = {
    **{
        f"comparison {name}": lambda name=name: comparison_files.FORMATS[name].render(  # type: ignore[misc]
            three_runs(), DAY
        )
        for name in READ
    },
    **{
        f"phase 3 {name}": lambda name=name: user_study_files.FORMATS[name].render(  # type: ignore[misc]
            user_study_report(), DAY
        )
        for name in READ
    },
    **{
        f"chart of {kind}": lambda kind=kind: PICTURES["svg"].render(  # type: ignore[misc]
            three_runs(), PictureChoice(kind)
        )
        for kind in ("intervals", "categories", "progress")
    },
    **{
        f"comparison under V2 {name}": lambda name=name: comparison_files.FORMATS[name].render(  # type: ignore[misc]
            _checked_runs(), DAY
        )
        for name in READ
    },
    **{
        f"scores of {kind} as {name}": lambda read=read, write=write: write(read())  # type: ignore[misc]
        for kind, read in SCORES.items()
        for name, write in PRINTED.items()
    },
    **{
        f"constraints, MISSING {missing}": partial(_constraints, missing) for missing in MissingRule
    },
    "agreement on the terminal": lambda: agreement_tables(_agreement()),
    "figures of a run on the terminal": lambda: figures.FORMATS["table"](
        report(row("NR.", quality=4), row("U"), row(FALSE_NEGATIVE), row(FAILED))
    ),
    "figures of a run": lambda: metrics_markdown(report(row("NR."), row(FALSE_NEGATIVE))),
    "run": lambda: runs_markdown(
        [("Hybrid · openai", report(row("NRU", quality=4), row(CORRECT_EMPTY), row(FAILED)))]
    ),
    "run that is not rated to the end": lambda: runs_markdown(
        [("Hybrid · openai", report(row("NR."), row(FALSE_NEGATIVE)))]
    ),
    "measures": lambda: CITATION.sub("", measures_markdown()),
}


def _sentences(texts: Mapping[str, str]) -> set[str]:
    """Return the parts of texts between their places that are sentences of one language only."""
    other = "\n".join(texts.values())
    return {
        part.strip()
        for text in texts
        for part in PLACE.split(text)
        if len(part.strip()) >= SHORTEST and " " in part.strip() and part.strip() not in other
    }


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(name: str, language: str) -> None:
    with speaking(language):
        assert _foreign(_text(REPORTS[name]()), language) == []


@pytest.fixture(name="templates", scope="module")
def _templates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    folder = tmp_path_factory.mktemp("templates")
    app = create_app(Settings.from_environment({"RELEVANSI_INSTANCE": str(folder)}))
    yield app.jinja_env
    app.extensions["database"].close()


@pytest.mark.parametrize("blind", [True, False])
def test_each_language_of_the_page_without_a_server_is_one_language(
    templates: Environment, blind: bool
) -> None:
    text = offline_page.page(templates, _offline_run(blind=blind)).decode()
    text = re.sub(r'<button[^>]* lang="\w+".*?</button>', "", text)  # a language's own name
    _, indonesian, english = re.split(r'<template lang="(?:id|en)" dir="ltr">', text)

    for language, page in (("id", indonesian), ("en", english.partition("<script")[0])):
        assert _foreign(page, language) == []


def test_a_proof_packs_readme_is_english_in_every_language() -> None:
    with speaking("id"):
        text = readme(("Ani", "Budi"), "majority").decode()
    with speaking("en"):
        assert text == readme(("Ani", "Budi"), "majority").decode()

    assert _foreign(text, "en") == []


def _foreign(text: str, language: str) -> list[str]:
    """Return the sentences and decimals of the other language in `text`."""
    english = pairs()
    indonesian = {theirs: ours for ours, theirs in english.items()}
    words = " ".join(unescape(text).split())
    found = [one for one in _sentences(english if language == "id" else indonesian) if one in words]
    if language == "id":
        found += ENGLISH_DECIMALS.findall(MARKUP.sub(" ", words))
    return found


@pytest.mark.parametrize(
    "table",
    [lambda: agreement_tables(_agreement()), lambda: _constraints(MissingRule.COUNTED).encode()],
)
def test_terminal_tables_name_categories_in_words(table: Callable[[], bytes]) -> None:
    with speaking("id"):
        text = table().decode()

    assert "Lokasi" in text
    assert [label for label in labels.CATEGORIES if label in text] == []


def test_a_sentence_of_the_other_language_would_be_found() -> None:
    with speaking("en"):
        text = measures_markdown()
    found = [one for one in _sentences(pairs()) if one in text]

    assert "How much of what is shown first is relevant." in found
    assert len(found) > 100
