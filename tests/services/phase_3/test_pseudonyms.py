"""A pseudonym is one participant's, and never in the log."""

from __future__ import annotations

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, agreed, only, opened, taking_part
from webapp.db.tables.people import LogEntry
from webapp.db.tables.phase_3 import ParticipantLink
from webapp.db.tables.study import Study
from webapp.services.phase_3 import links, participants, user_studies
from webapp.services.phase_3.links import PseudonymTaken


@pytest.fixture(name="link")
def _link(session: Session, study: Study) -> ParticipantLink:
    """A link that is everybody's."""
    opened(session, study)
    made = links.make(session, study, NOW)
    return links.accept(session, study, made.token, NOW)


def test_a_pseudonym_is_one_participant_s_whatever_its_capitals(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    melati = agreed(session, link)
    with pytest.raises(PseudonymTaken):
        agreed(session, link, "MELATI")
    with pytest.raises(PseudonymTaken):
        agreed(session, link, "M\N{CYRILLIC SMALL LETTER IE}lati")
    jati = agreed(session, link, "Jati")
    with pytest.raises(PseudonymTaken):
        participants.rename(session, jati, "melati")
    participants.rename(session, melati, "MeLaTi")

    assert melati.pseudonym == "MeLaTi"
    offered = {links.offered(session, study) for _ in range(50)}
    assert {"Melati", "Jati"} & offered == set()


def test_there_is_a_pseudonym_to_offer_once_all_are_taken(session: Session, study: Study) -> None:
    opened(session, study)
    for name in links.PSEUDONYMS:
        participants.invite(session, study, name, NOW)

    assert links.offered(session, study) not in links.PSEUDONYMS


def test_settings_are_logged_and_the_log_names_no_pseudonym(session: Session, study: Study) -> None:
    taking_part(session, study)
    logged = only(session, LogEntry)

    assert "phase 3 endpoint" in {entry.action for entry in logged}
    assert "Melati" not in str([(entry.subject, entry.old, entry.new) for entry in logged])
    assert user_studies.settings(user_studies.find(session, study)) == SETTINGS
