"""docs/figures.md is what the registry of measures says, and leaves none out."""

from __future__ import annotations

import pytest

from tests.exporters.explained import unexplained
from webapp.config import checkout
from webapp.exporters.exports.metrics_tables import chapters, measures_markdown, rounding
from webapp.i18n import speaking
from webapp.metrics.agreement.registry import COEFFICIENTS
from webapp.metrics.comparisons.registry import COMPARISON_MEASURES
from webapp.metrics.judging.registry import MEASURES
from webapp.notation import figure


def test_the_committed_page_is_the_registry_s() -> None:
    home = checkout()
    if home is None:
        pytest.skip("docs/ lies in a checkout only")
    with speaking("en"):
        assert (home / "docs" / "figures.md").read_text("utf-8") == measures_markdown()


@pytest.mark.parametrize(
    ("language", "examples"),
    [
        ("id", ("0,625 tampil sebagai 0,62", "0,375 sebagai 0,38")),
        ("en", ("0.625 is shown as 0.62", "0.375 as 0.38")),
    ],
)
def test_the_rule_of_rounding_is_told_by_what_it_does(
    language: str, examples: tuple[str, str]
) -> None:
    with speaking(language):
        told = rounding()
        assert all(example in told for example in examples)
        assert (figure(0.625) in told, figure(0.375) in told) == (True, True)


@pytest.mark.parametrize("language", ["id", "en"])
def test_what_figures_mean_together_goes_on_after_its_colon(language: str) -> None:
    with speaking(language):
        meanings = [
            said.split(": ", maxsplit=1)[1] for chapter in chapters() for said in chapter.together
        ]

    assert [one for one in meanings if not one[0].islower()] == []


@pytest.mark.parametrize("language", ["id", "en"])
def test_every_measure_is_explained_in_both_languages(language: str) -> None:
    measures = (*MEASURES.values(), *COMPARISON_MEASURES.values(), *COEFFICIENTS.values())

    assert unexplained(measures, language) == []
