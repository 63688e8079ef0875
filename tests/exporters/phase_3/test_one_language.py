"""The report of phase 3 is in one language."""

from __future__ import annotations

import pytest

from tests.exporters.comparisons.comparisons import DAY
from tests.exporters.one_language import READ, foreign, text_of
from tests.exporters.phase_3.user_studies import user_study_report
from webapp.exporters.phase_3 import files as user_study_files
from webapp.i18n import speaking


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("language", ["id", "en"])
def test_a_report_is_in_one_language(name: str, language: str) -> None:
    with speaking(language):
        report = user_study_files.FORMATS[name].render(user_study_report(), DAY)

        assert foreign(text_of(report), language) == []
