"""One page explains every figure of the product."""

from __future__ import annotations

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
