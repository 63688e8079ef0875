"""Opening a link and consenting makes a person a participant; declining leaves only a count."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.services.phase_3.participants import SETTINGS, only, opened, taking_part
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.phase_3 import Participant, ParticipantLink
from webapp.db.tables.study import Study
from webapp.services.people import sign_in
from webapp.services.phase_3 import participants, user_studies
from webapp.services.phase_3.participants import (
    LinkExpired,
    LinkWithdrawn,
    PhaseClosed,
    PseudonymTaken,
    UnknownLink,
)
from webapp.services.phase_3.user_studies import UserStudySettings
from webapp.services.study import studies

DAY = timedelta(days=1)


@pytest.fixture(name="link")
def _link(session: Session, study: Study) -> ParticipantLink:
    """A link that is everybody's."""
    opened(session, study)
    made = participants.make_link(session, study, NOW)
    return participants.accept(session, study, made.token, NOW)


def agreed(
    session: Session, link: ParticipantLink, pseudonym: str = "Melati", token: str = ""
) -> Participant:
    """Return whoever agreed by a link."""
    study = session.get_one(Study, link.study_id)
    text = user_studies.consent(session, study)["en"]
    token = token or participants.new_token()
    badge = participants.agree(session, link, text, pseudonym, token, NOW)
    found = participants.recognise(session, study, badge, NOW)
    assert found is not None
    return found


def test_each_one_who_agrees_by_everybody_s_link_is_a_new_participant(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    first, second = agreed(session, link), agreed(session, link, "Jati")

    assert (first.number, second.number) == (1, 2)
    assert first.rater_id != second.rater_id
    assert [one.pseudonym for one in participants.everybody(session, study)] == ["Melati", "Jati"]


def test_agreeing_twice_from_one_page_makes_one_participant(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    token = participants.new_token()

    assert agreed(session, link, "Melati", token) is agreed(session, link, "Melati", token)
    assert len(participants.everybody(session, study)) == 1


def test_it_is_kept_which_version_of_the_consent_somebody_agreed_to(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    before = agreed(session, link)
    version = user_studies.write_consent(session, study, {"id": "Baru", "en": "New"}, NOW)
    after = agreed(session, link, "Jati")

    assert version == 2
    assert before.consent is not None
    assert after.consent is not None
    assert (before.consent.number, before.consent.language) == (1, "en")
    assert (after.consent.number, after.consent.text) == (2, "New")
    assert before.consent.text == user_studies.default_consent()["en"]


def test_a_text_that_is_the_same_is_no_new_version(session: Session, study: Study) -> None:
    opened(session, study)

    assert user_studies.write_consent(session, study, user_studies.default_consent(), NOW) == 1
    assert len(user_studies.consents(session, study)) == 2  # one in each language


def test_declining_stores_a_count_and_nothing_else(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    participants.decline(session, link, NOW)
    invited = participants.invite(session, study, "Merak", NOW)
    personal = participants.accept(session, study, invited.token, NOW)
    participants.decline(session, personal, NOW)

    phase = user_studies.find(session, study)
    assert phase is not None
    assert phase.declined == 2
    assert only(session, Participant) == []
    assert "Merak" not in str([(e.subject, e.old, e.new) for e in only(session, LogEntry)])
    with pytest.raises(UnknownLink):
        participants.accept(session, study, invited.token, NOW)


def test_a_personal_link_is_one_participant_s_on_every_device(
    session: Session, study: Study
) -> None:
    opened(session, study)
    made = participants.invite(session, study, "Merak", NOW)
    link = participants.accept(session, study, made.token, NOW)
    first = agreed(session, link, "Merak")
    again = agreed(session, link, "somebody else")
    more = participants.personal_link(session, first, NOW)
    other = participants.accept(session, study, more.token, NOW)

    assert first is again
    assert first.pseudonym == "Merak"
    assert other.participant is first


def test_only_hashes_of_links_are_stored(session: Session, study: Study) -> None:
    opened(session, study)
    token = participants.make_link(session, study, NOW).token

    (row,) = only(session, ParticipantLink)
    assert row.token_hash == sha256(token.encode()).hexdigest()
    assert token not in str([vars(entry) for entry in only(session, LogEntry)])


def test_a_link_ends_by_its_time_and_by_the_owner_s_word(session: Session, study: Study) -> None:
    opened(session, study)
    made = participants.make_link(session, study, NOW, days=1)
    with pytest.raises(LinkExpired):
        participants.accept(session, study, made.token, NOW + DAY)
    participants.withdraw_link(session, study, made.id, NOW)
    with pytest.raises(LinkWithdrawn):
        participants.accept(session, study, made.token, NOW)
    for token in ("", "x", "\x00", "é" * 500):
        with pytest.raises(UnknownLink):
            participants.accept(session, study, token, NOW)


def test_whose_personal_link_is_withdrawn_is_out_at_once(session: Session, study: Study) -> None:
    opened(session, study)
    made = participants.invite(session, study, "Merak", NOW)
    link = participants.accept(session, study, made.token, NOW)
    agreed(session, link, "Merak")
    badge = participants.badge(link)
    forged = participants.ParticipantBadge(badge.participant_id, badge.link_id, "0" * 16)

    assert participants.recognise(session, study, badge, NOW) is not None
    assert participants.recognise(session, study, forged, NOW) is None
    participants.withdraw_link(session, study, made.id, NOW)
    assert participants.recognise(session, study, badge, NOW) is None


def test_nobody_new_comes_in_while_it_is_closed_and_who_is_in_comes_back(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    melati = agreed(session, link)
    own = participants.personal_link(session, melati, NOW)
    user_studies.set_settings(session, study, UserStudySettings(is_open=False), NOW)

    with pytest.raises(PhaseClosed):
        agreed(session, link, "Jati")
    assert agreed(session, participants.accept(session, study, own.token, NOW)) is melati


def test_a_pseudonym_is_one_participant_s_whatever_its_capitals(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    melati = agreed(session, link)
    with pytest.raises(PseudonymTaken):
        agreed(session, link, "MELATI")
    jati = agreed(session, link, "Jati")
    with pytest.raises(PseudonymTaken):
        participants.rename(session, jati, "melati")
    participants.rename(session, melati, "MeLaTi")

    assert melati.pseudonym == "MeLaTi"
    offered = {participants.offered_pseudonym(session, study) for _ in range(50)}
    assert {"Melati", "Jati"} & offered == set()


def test_there_is_a_pseudonym_to_offer_once_all_are_taken(session: Session, study: Study) -> None:
    opened(session, study)
    for name in participants.PSEUDONYMS:
        participants.invite(session, study, name, NOW)

    assert participants.offered_pseudonym(session, study) not in participants.PSEUDONYMS


def test_a_link_ends_the_house_that_is_open_to_whoever_sits_here(
    session: Session, study: Study
) -> None:
    opened(session, study)
    assert sign_in.asker(session, None, NOW).is_open_house

    participants.make_link(session, study, NOW)

    assert not sign_in.asker(session, None, NOW).is_open_house


def test_participants_are_no_raters_of_the_study(session: Session, study: Study) -> None:
    before = [rater.name for rater in studies.raters(session, study)]
    taking_part(session, study)

    assert [rater.name for rater in studies.raters(session, study)] == before
    assert studies.current(session) is study
    assert len(only(session, Rater)) == len(before) + 1


def test_settings_are_logged_and_the_log_names_no_pseudonym(session: Session, study: Study) -> None:
    taking_part(session, study)
    logged = only(session, LogEntry)

    assert "phase 3 endpoint" in {entry.action for entry in logged}
    assert "Melati" not in str([(entry.subject, entry.old, entry.new) for entry in logged])
    assert user_studies.settings(user_studies.find(session, study)) == SETTINGS
