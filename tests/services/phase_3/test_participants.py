"""Opening a link and consenting makes a person a participant; declining leaves only a count."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.conftest import NOW
from tests.demo import study_of
from tests.services.phase_3.participants import agreed, only, opened, taking_part
from webapp.db.tables.people import LogEntry, Rater
from webapp.db.tables.phase_3 import ConsentText, Participant, ParticipantLink
from webapp.db.tables.study import Study
from webapp.services.phase_3 import links, participants, user_studies
from webapp.services.phase_3.links import UnknownLink
from webapp.services.phase_3.own_questions import rater
from webapp.services.phase_3.participants import PhaseClosed
from webapp.services.phase_3.user_studies import UserStudySettings
from webapp.services.study import studies


@pytest.fixture(name="link")
def _link(session: Session, study: Study) -> ParticipantLink:
    """A link that is everybody's."""
    opened(session, study)
    made = links.make(session, study, NOW)
    return links.accept(session, study, made.token, NOW)


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
    token = links.new_token()

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
    assert len(session.scalars(select(ConsentText)).all()) == 2  # one in each language


def test_declining_stores_a_count_and_nothing_else(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    participants.decline(session, link, NOW)
    invited = participants.invite(session, study, "Merak", NOW)
    personal = links.accept(session, study, invited.token, NOW)
    participants.decline(session, personal, NOW)

    phase = user_studies.find(session, study)
    assert phase is not None
    assert phase.declined == 2
    assert only(session, Participant) == []
    assert "Merak" not in str([(e.subject, e.old, e.new) for e in only(session, LogEntry)])
    with pytest.raises(UnknownLink):
        links.accept(session, study, invited.token, NOW)


def test_nobody_new_comes_in_while_it_is_closed_and_who_is_in_comes_back(
    session: Session, study: Study, link: ParticipantLink
) -> None:
    melati = agreed(session, link)
    own = links.personal(session, melati, NOW)
    user_studies.set_settings(session, study, UserStudySettings(is_open=False), NOW)

    with pytest.raises(PhaseClosed):
        agreed(session, link, "Jati")
    assert agreed(session, links.accept(session, study, own.token, NOW)) is melati


def test_participants_are_no_raters_of_the_study(session: Session, study: Study) -> None:
    before = [rater.name for rater in studies.raters(session, study)]
    taking_part(session, study)

    assert [rater.name for rater in studies.raters(session, study)] == before
    assert studies.current(session) is study
    assert len(only(session, Rater)) == len(before) + 1


def test_eight_participants_asked_rated_and_answered_the_questionnaire(
    demo_session: Session,
) -> None:
    everybody = participants.everybody(demo_session, study_of(demo_session))
    answers = [participants.of_rater(demo_session, rater(person)) for person in everybody]

    assert len(everybody) == 8
    assert all(person.finished_at for person in everybody)
    assert all(not answer.unanswered for answer in answers)
    assert sum(bool(answer.missing) for answer in answers) == 5
