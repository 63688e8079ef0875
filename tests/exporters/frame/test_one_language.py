"""Every report is in one language: no sentence of the other one's catalogue is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time

import pytest

from tests.exporters.comparisons.comparisons import DAY, three_runs
from tests.exporters.one_language import READ, foreign, sentences, text_of
from tests.exporters.reports import CORRECT_EMPTY, FAILED, FALSE_NEGATIVE, report, row
from tests.test_translations import pairs
from webapp import labels
from webapp.cli.agreement.agreement import agreement_tables
from webapp.cli.exports import exporting
from webapp.exporters.comparisons import files as comparison_files
from webapp.exporters.comparisons.pictures import KINDS, standalone
from webapp.exporters.exports.metrics_tables import (
    measures_markdown,
    metrics_markdown,
    runs_markdown,
)
from webapp.exporters.frame.canvas import svg_file
from webapp.i18n import speaking
from webapp.metrics.agreement.report import (
    AgreementReport,
    ItemKind,
    LabelledItem,
    consistency,
    of_kind,
)
from webapp.metrics.comparisons.significance import Bootstrap

CATEGORIES = ("location_simple", "nearby_price")
RATERS = ("Ani", "Budi", "Citra")
GRADES = ((4.0, 5.0, 3.0), (2.0, 2.0, 0.0))
FEW = Bootstrap(resamples=5)
CITATION = re.compile("^- (?:Source|Sumber): .*$", re.MULTILINE)
"""A citation is in the language of what it cites."""


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


REPORTS: Mapping[str, Callable[[], bytes | str]] = {
    **{
        f"comparison {name}": lambda name=name: comparison_files.FORMATS[name].render(  # type: ignore[misc]
            three_runs(), DAY
        )
        for name in READ
    },
    **{
        f"chart of {kind}": lambda kind=kind: svg_file(  # type: ignore[misc]
            standalone(three_runs(), kind)
        )
        for kind in KINDS
    },
    "agreement on the terminal": lambda: agreement_tables(_agreement()),
    "figures of a run on the terminal": lambda: exporting.FORMATS["table"](
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


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(name: str, language: str) -> None:
    with speaking(language):
        assert foreign(text_of(REPORTS[name]()), language) == []


def test_terminal_tables_name_categories_in_words() -> None:
    with speaking("id"):
        text = agreement_tables(_agreement()).decode()

    assert "Lokasi" in text
    assert [label for label in labels.CATEGORIES if label in text] == []


def test_a_sentence_of_the_other_language_would_be_found() -> None:
    with speaking("en"):
        text = measures_markdown()
    found = [one for one in sentences(pairs()) if one in text]

    assert "How much of what is shown first is relevant." in found
    assert len(found) > 100
