"""Every report is in one language: no sentence of the other one's catalogue is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from relevansi.cli.exports import exporting
from relevansi.exporters.comparisons import files as comparison_files
from relevansi.exporters.comparisons.pictures import standalone
from relevansi.exporters.exports.meanings import measures_markdown
from relevansi.exporters.exports.metrics_tables import metrics_markdown, runs_markdown
from relevansi.exporters.frame.canvas import svg_file
from relevansi.i18n import speaking
from tests.exporters.comparisons.comparisons import DAY, three_runs
from tests.exporters.one_language import READ, foreign, sentences, text_of
from tests.exporters.reports import CORRECT_EMPTY, FAILED, FALSE_NEGATIVE, report, row
from tests.test_translations import pairs

CITATION = re.compile("^- (?:Source|Sumber): .*$", re.MULTILINE)
"""A citation is in the language of what it cites."""


REPORTS: Mapping[str, Callable[[], bytes | str]] = {
    **{
        f"comparison {name}": lambda name=name: comparison_files.FORMATS[name].render(  # type: ignore[misc]
            three_runs(), DAY
        )
        for name in READ
    },
    "chart of figures": lambda: svg_file(standalone(three_runs())),
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


def test_a_sentence_of_the_other_language_is_detected() -> None:
    with speaking("en"):
        text = measures_markdown()
    result = [sentence for sentence in sentences(pairs()) if sentence in text]

    assert "How much of what is shown first is relevant." in result
    assert len(result) > 100
