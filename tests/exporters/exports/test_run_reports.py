"""The report of a run: figures, what they mean, references, in one language."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.exporters.reports import CORRECT_EMPTY, report, row
from webapp.exporters.exports.metrics_tables import runs_markdown
from webapp.i18n import speaking
from webapp.metrics.judging.figures import RunReport

SIMPLE = replace(row("NR", 1, quality=4), category="location_simple")
RATED = report(SIMPLE, row(CORRECT_EMPTY, 2))


def text(language: str, *found: tuple[str, RunReport]) -> str:
    with speaking(language):
        return runs_markdown(found or [("Hybrid · openai", RATED)]).decode()


def test_the_report_shows_the_figures_of_every_run_before_what_they_mean() -> None:
    found = text("en", ("First", RATED), ("Second", RATED))

    # One list of two, the second relevant: P@5 1/2 and RR 1/2; a correct empty is a success.
    assert found.count("| Precision@5 | 0.5000 | 0.5000 | 0.5000 | 1 |") == 2
    assert "| Location (location_simple) | 1 | 0.5000 |" in found
    headings = [line for line in found.splitlines() if line.startswith("#")]
    assert headings == [
        "# Evaluation report",
        "## Run First (Ani alone)",
        "## Run Second (Ani alone)",
        "## What the figures mean",
        "### How the table is read",
        "### Read together",
        "## References",
    ]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "en",
            [
                "1 means that the first card is always relevant, 0.5 that the first relevant card",
                "Coverage asks whether anything was shown, the success rate whether",
                "Precision@5 looks at the first five cards only, overall precision at every card",
                "are means over the questions with results",
                "a value is provisional",
            ],
        ),
        (
            "id",
            [
                "0,5",
                "Cakupan menanyakan apakah ada hasil",
                "Precision@5 hanya melihat lima kartu pertama",
                "rata-rata atas pertanyaan yang punya hasil",
                "nilainya bersifat sementara",
            ],
        ),
    ],
)
def test_the_report_says_in_words_what_its_figures_mean(
    language: str, sentences: list[str]
) -> None:
    found = text(language)

    assert [said for said in sentences if said not in found] == []


@pytest.mark.parametrize("language", ["id", "en"])
def test_the_report_lists_every_reference_of_the_method(language: str) -> None:
    listed = text(language).rpartition("## ")[2]

    for work in (
        "Manning, C. D., Raghavan, P., & Schütze, H. (2008)",
        "Voorhees, E. M. (2002)",
        "Voorhees, E. M. (1999)",
        "Craswell, N. (2009)",
        "Chen, D., & Yih, W. (2020)",
    ):
        assert work in listed


def test_the_report_speaks_one_language() -> None:
    found = text("id").rpartition("## ")[0]

    for english in (" the ", " of ", " is ", "alone", "Category", "Questions", "0.5"):
        assert english not in found
