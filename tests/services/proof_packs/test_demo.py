"""The demo's study has a proof pack that verifies."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.demo import study_of
from tests.services.proof_packs.packs import verified
from webapp.metrics.comparisons.significance import Resampling
from webapp.services.proof_packs import packs
from webapp.services.runs import reports


@pytest.mark.thorough
def test_the_proof_pack_of_the_demo_verifies(demo_session: Session) -> None:
    study = study_of(demo_session)
    rule = reports.rule_of(demo_session, study)
    data = packs.of_study(demo_session, study, rule, settings=Resampling(resamples=50)).data

    assert verified(data).equal
