"""A link lets in until its time is over or the owner takes it back, and only its hash is kept."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, agreed, only, opened, taking_part
from webapp.db.tables.people import LogEntry
from webapp.db.tables.phase_3 import ParticipantLink
from webapp.db.tables.study import Study
from webapp.services.people import sign_in
from webapp.services.phase_3 import links, participants, user_studies
from webapp.services.phase_3.links import LinkExpired, LinkWithdrawn, PseudonymTaken, UnknownLink

DAY = timedelta(days=1)


def test_a_personal_link_is_one_participant_s_on_every_device(
    session: Session, study: Study
) -> None:
    opened(session, study)
    made = participants.invite(session, study, "Merak", NOW)
    link = links.accept(session, study, made.token, NOW)
    first = agreed(session, link, "Merak")
    again = agreed(session, link, "somebody else")
    more = links.personal(session, first, NOW)
    other = links.accept(session, study, more.token, NOW)

    assert first is again
    assert first.pseudonym == "Merak"
    assert other.participant is first


def test_only_hashes_of_links_are_stored(session: Session, study: Study) -> None:
    opened(session, study)
    token = links.make(session, study, NOW).token

    (row,) = only(session, ParticipantLink)
    assert row.token_hash == sha256(token.encode()).hexdigest()
    assert token not in str([vars(entry) for entry in only(session, LogEntry)])


def test_a_link_ends_by_its_time_and_by_the_owner_s_word(session: Session, study: Study) -> None:
    opened(session, study)
    made = links.make(session, study, NOW, days=1)
    with pytest.raises(LinkExpired):
        links.accept(session, study, made.token, NOW + DAY)
    links.withdraw(session, study, made.id, NOW)
    with pytest.raises(LinkWithdrawn):
        links.accept(session, study, made.token, NOW)
    for token in ("", "x", "\x00", "é" * 500):
        with pytest.raises(UnknownLink):
            links.accept(session, study, token, NOW)


def test_whose_personal_link_is_withdrawn_is_out_at_once(session: Session, study: Study) -> None:
    opened(session, study)
    made = participants.invite(session, study, "Merak", NOW)
    link = links.accept(session, study, made.token, NOW)
    agreed(session, link, "Merak")
    badge = links.badge(link)
    forged = links.ParticipantBadge(badge.participant_id, badge.link_id, "0" * 16)

    assert links.recognise(session, study, badge, NOW) is not None
    assert links.recognise(session, study, forged, NOW) is None
    links.withdraw(session, study, made.id, NOW)
    assert links.recognise(session, study, badge, NOW) is None


def test_a_link_ends_the_house_that_is_open_to_whoever_sits_here(
    session: Session, study: Study
) -> None:
    opened(session, study)
    assert sign_in.asker(session, None, NOW).is_open_house

    links.make(session, study, NOW)

    assert not sign_in.asker(session, None, NOW).is_open_house


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
