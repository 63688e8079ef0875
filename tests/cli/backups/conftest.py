"""The study that the tests of this folder back up and move."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services.judging.rated_studies import rated_study
from tests.stored_studies import study_in


@pytest.fixture(name="instance")
def _instance(tmp_path: Path) -> Path:
    """An instance whose database holds a rated study."""
    instance = tmp_path / "instance"
    with study_in(instance) as (session, study):
        rated_study(session, study)
    return instance
