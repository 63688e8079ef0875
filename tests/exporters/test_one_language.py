"""Every report is in one language: no sentence of the other one's catalogue is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from tests.exporters.comparisons import DAY, three_runs
from tests.exporters.reports import CORRECT_EMPTY, FAILED, FALSE_NEGATIVE, report, row
from tests.exporters.user_studies import user_study_report
from tests.test_translations import pairs
from webapp.exporters import comparison_files, user_study_files
from webapp.exporters.charts.pictures import Choice, svg_file
from webapp.exporters.measures import measures_markdown
from webapp.exporters.run_reports import runs_markdown
from webapp.i18n import speaking

PLACE = re.compile(r"%\(\w+\)s|%%")
SHORTEST = 13
"""Shorter texts are names and field terms that may be the same in both languages."""

READ = ("markdown", "latex", "html")


def _text(data: bytes | str) -> str:
    return data if isinstance(data, str) else data.decode()


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
        f"chart of {kind}": lambda kind=kind: svg_file(three_runs(), Choice(kind))  # type: ignore[misc]
        for kind in ("intervals", "categories", "progress")
    },
    "run": lambda: runs_markdown(
        [("Hybrid · openai", report(row("NRU", quality=4), row(CORRECT_EMPTY), row(FAILED)))]
    ),
    "run that is not rated to the end": lambda: runs_markdown(
        [("Hybrid · openai", report(row("NR."), row(FALSE_NEGATIVE)))]
    ),
    "measures": measures_markdown,
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
def test_a_report_is_in_one_language(name: str) -> None:
    english = pairs()
    indonesian = {theirs: ours for ours, theirs in english.items()}
    for language, foreign in (("id", english), ("en", indonesian)):
        with speaking(language):
            text = " ".join(_text(REPORTS[name]()).split())
        assert [one for one in _sentences(foreign) if one in text] == []


def test_a_sentence_of_the_other_language_would_be_found() -> None:
    with speaking("en"):
        text = measures_markdown()
    found = [one for one in _sentences(pairs()) if one in text]

    assert "How much of what is shown first is relevant." in found
    assert len(found) > 100
