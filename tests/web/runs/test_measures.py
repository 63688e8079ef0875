"""One page explains every figure of the product."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from webapp.i18n import gettext, speaking
from webapp.metrics.agreement.registry import COEFFICIENTS
from webapp.metrics.comparisons.registry import COMPARISON_MEASURES
from webapp.metrics.judging.registry import MEASURES


@pytest.mark.parametrize("language", ["en", "id"])
def test_every_figure_has_its_label_and_its_source(client: FlaskClient, language: str) -> None:
    text = unescape(client.get("/measures/", headers={"Accept-Language": language}).text)

    with speaking(language):
        for measure in (*MEASURES.values(), *COEFFICIENTS.values(), *COMPARISON_MEASURES.values()):
            assert gettext(measure.label) in text
            assert gettext(measure.source) in text


def test_every_name_leads_into_the_fold_of_its_figure(client: FlaskClient) -> None:
    """A browser opens a fold for an address only when the anchor is inside the fold."""
    page = client.get("/measures/").text
    index, articles = page.split("</nav>", 2)[-1].split("</details>", 1)
    measures = re.findall(r'<article class="measure">(.*?)</article>', articles, re.DOTALL)
    names = re.findall(r'<li><a href="#([^"]+)"', index)

    assert len(names) == len(measures)
    for name, measure in zip(names, measures, strict=True):
        fold = re.search(r"<details.*</details>", measure, re.DOTALL)
        assert f'id="{name}"' in (fold[0] if fold else measure)


def test_a_column_of_which_there_is_no_more_to_say_has_no_fold(client: FlaskClient) -> None:
    folds = re.findall(
        r'<details class="fold">(.*?)</details>', client.get("/measures/").text, re.DOTALL
    )

    assert folds
    assert all("<dt>" in fold for fold in folds)
