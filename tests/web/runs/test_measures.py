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
    folded = re.findall(r'<details class="fold">(.*?)</details>', articles, re.DOTALL)
    names = re.findall(r'<li><a href="#([^"]+)"', index)

    assert len(names) == len(folded)
    assert all(f'id="{name}"' in fold for name, fold in zip(names, folded, strict=True))
