"""Opening a link and consenting makes a person a participant."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

import pytest
from msgspec.structs import replace
from sqlalchemy.orm import Session

from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.phase_3 import ConsentText, ParticipantLink
from relevansi.db.tables.study import Study
from relevansi.services.people import sign_in
from relevansi.services.people.raters import NoWayIn
from relevansi.services.phase_3 import participants, questionnaires, user_studies
from relevansi.services.phase_3.own_questions import rater
from relevansi.services.phase_3.participants import PseudonymTaken
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.demo import study_of
from tests.services.phase_3.participants import agreed, came_in, only, opened, taking_part

DAY = timedelta(days=1)


@pytest.fixture(name="link")
def _link(session: Session, study: Study) -> ParticipantLink:
    """A link that is everybody's."""
    opened(session, study)
    new_link = participants.make_link(session, study, NOW, days=1)
    assert new_link.token not in str([vars(entry) for entry in only(session, LogEntry)])
    result = participants.accept(session, study, new_link.token, NOW)
    assert result.token_hash == sha256(new_link.token.encode()).hexdigest()
    with pytest.raises(NoWayIn):
        participants.accept(session, study, new_link.token, NOW + DAY)
    return result


def test_a_personal_link_holds_until_it_is_withdrawn(session: Session, study: Study) -> None:
    opened(session, study)
    invitation = participants.invite(session, study, "Merak", NOW)
    link = participants.accept(session, study, invitation.token, NOW)
    carried = came_in(session, link, "Merak")
    first, again = agreed(session, link, "Merak"), agreed(session, link, "somebody else")
    more = participants.personal_link(session, first, NOW)

    assert first is again
    assert first.pseudonym == "Merak"
    assert participants.accept(session, study, more.token, NOW).participant is first
    assert participants.recognise(session, study, carried, NOW) is first
    for forged in (
        replace(carried, seal="0" * 16),
        replace(carried, link_id=99),
        replace(carried, participant_id=99),
    ):
        assert participants.recognise(session, study, forged, NOW) is None
    participants.withdraw_link(session, study, link.id, NOW)
    assert participants.recognise(session, study, carried, NOW) is None
    for token in (invitation.token, "", "x", "\x00", "é" * 500):
        with pytest.raises(NoWayIn):
            participants.accept(session, study, token, NOW)


def test_a_link_ends_the_time_without_signing_in(session: Session, study: Study) -> None:
    assert sign_in.current_user(session, None, NOW).is_open_house
    participants.make_link(session, study, NOW)

    assert not sign_in.current_user(session, None, NOW).is_open_house


def test_pseudonyms_are_unique(session: Session, study: Study, link: ParticipantLink) -> None:
    melati, jati = agreed(session, link), agreed(session, link, "Jati")
    for name in ("MELATI", "M\N{CYRILLIC SMALL LETTER IE}lati"):
        with pytest.raises(PseudonymTaken):
            agreed(session, link, name)
    with pytest.raises(PseudonymTaken):
        participants.rename(session, jati, "melati")
    participants.rename(session, melati, "MeLaTi")

    assert melati.pseudonym == "MeLaTi"
    offered = {participants.free_pseudonym(session, study) for _ in range(50)}
    assert {"Melati", "Jati"} & offered == set()
    for name in offered:
        participants.invite(session, study, name, NOW)
    for name in participants.PSEUDONYMS:
        if name not in {*offered, "Melati", "Jati"}:
            participants.invite(session, study, name, NOW)
    assert participants.free_pseudonym(session, study) not in participants.PSEUDONYMS
    log = [(entry.subject, entry.old, entry.new) for entry in only(session, LogEntry)]
    assert "Jati" not in str(log)


def test_each_participant_has_the_consent_text_they_agreed_to(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    assert user_studies.write_consent(session, study, user_studies.default_consent(), NOW) == 1
    before = agreed(session, link)
    version = user_studies.write_consent(session, study, {"id": "Baru", "en": "New"}, NOW)
    after = agreed(session, link, "Jati")

    assert version == 2
    assert before.consent is not None
    assert after.consent is not None
    assert (before.consent.number, before.consent.language) == (1, "en")
    assert (after.consent.number, after.consent.text) == (2, "New")
    assert before.consent.text == user_studies.default_consent()["en"]
    assert len(only(session, ConsentText)) == 4  # two versions in each language


def test_participants_are_no_raters_of_the_study(session: Session, study: Study) -> None:
    before = [rater.name for rater in studies.raters(session, study)]
    taking_part(session, study)

    assert [rater.name for rater in studies.raters(session, study)] == before
    assert studies.current(session) is study
    assert len(only(session, Rater)) == len(before) + 1


def test_eight_participants_of_the_demo_are_done(demo_session: Session) -> None:
    everybody = participants.everybody(demo_session, study_of(demo_session))
    answers = [questionnaires.of_rater(demo_session, rater(person)) for person in everybody]

    assert len(everybody) == 8
    assert all(person.finished_at for person in everybody)
    assert all(not answer.unanswered for answer in answers)
    assert sum(bool(answer.missing) for answer in answers) == 5
