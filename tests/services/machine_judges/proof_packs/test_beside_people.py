"""A proof pack holds the verdicts of people alone, also where a machine has judged."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from tests.chatbot.bots import Bot
from tests.conftest import NOW
from tests.services.machine_judges import machines
from tests.services.machine_judges.conftest import N
from tests.services.machine_judges.machines import worked
from tests.services.machine_judges.test_beside_people import FEW, person, say, two_people
from webapp.db.tables.machine_judges import MachineJudge
from webapp.db.tables.study import Study
from webapp.services.machine_judges import judges
from webapp.services.proof_packs import packs
from webapp.services.proof_packs.packs import MachineNotPacked
from webapp.services.runs import reports


def members(session: Session, study: Study) -> dict[str, bytes]:
    """The members of a proof pack but those that tell its date and the sums of the others."""
    rule = reports.rule_of(session, study, "majority")
    pack = packs.pack(session, study, None, rule, settings=FEW)
    with zipfile.ZipFile(io.BytesIO(pack.data)) as opened:
        found = {name: opened.read(name) for name in opened.namelist()}
    dated = {"manifest.json", "SHA256SUMS", "README.md", "pack.json"}
    return {name: data for name, data in found.items() if name.rpartition("/")[2] not in dated}


def test_no_member_of_a_pack_moves_when_a_machine_has_judged_everything(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    two_people(session, study)
    packed = members(session, study)
    worked(session, judge, machines.endpoint(bot), now=NOW - timedelta(days=1))

    assert judges.beside_people(session, study, judge).machine_judged == N
    assert members(session, study) == packed


def test_the_figures_of_a_machine_are_not_packed_even_once_released(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    verdicts = {f"p{n}{which}": "1" for n in range(1, 16) for which in "ab"}
    say(session, person(session, study, "Ani"), verdicts)
    worked(session, judge, machines.endpoint(bot))
    judges.release(session, judge, NOW)
    rule = reports.rule_of(session, study, "rater Mesin")

    with pytest.raises(MachineNotPacked):
        packs.pack(session, study, None, rule)
