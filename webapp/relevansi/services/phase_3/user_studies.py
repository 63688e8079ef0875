"""Phase 3 of a study as its owner sets it up: the chatbot, the limits, the consent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.chatbot import mappings
from relevansi.chatbot.client import Chatbot, Patience, UnusableAddress, public_address
from relevansi.config import resource
from relevansi.db.tables.phase_3 import ConsentText, UserStudy
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.json_files import fields
from relevansi.failures import Missing
from relevansi.i18n import LANGUAGES, SOURCE_LANGUAGE, mark, texts_of
from relevansi.services.study import studies

CONTRACT, OPENAI, MAPPING = "contract", "openai", "mapping"
APIS = (CONTRACT, OPENAI, MAPPING)
MAPPING_NAME = mark("the mapping")
_SECRET = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)


class NotSetUp(Missing):
    message = mark("Phase 3 is not set up")
    remedy = mark("Set it up on the page of phase 3 first.")
    command_remedy = mark("Open Study, Phase 3 in the app.")


class UnfitChatbot(ValueError):
    """The chatbot cannot be asked with these settings: ``field`` is wrong, ``why`` explains it."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field, self.why = field, why


class UserStudySettings(Struct, frozen=True):
    """The owner's settings of phase 3; see ``db.tables.phase_3.UserStudy``. Changes are logged."""

    is_open: bool = False
    most_questions: int = 10
    endpoint: str = ""
    search_method: str = ""
    llm: str = ""
    api: str = CONTRACT
    model: str = ""
    mapping: str = ""
    answer_seconds: int = 120
    tries: int = 2
    at_once: int = 2
    pause_seconds: int = 5
    most_newcomers: int = 40


def find(session: Session, study: Study) -> UserStudy | None:
    """Return phase 3 of a study, ``None`` where it was never set up."""
    return session.get(UserStudy, study.id)


def open_or_make(session: Session, study: Study, now: datetime) -> UserStudy:
    """Return phase 3 of a study, made closed and with our own consent text if it is new."""
    phase = find(session, study)
    if phase is None:
        phase = UserStudy(study_id=study.id, created_at=now)
        session.add(phase)
        session.flush()
        write_consent(session, study, default_consent(), now)
    return phase


def lock(session: Session, study: Study) -> UserStudy:
    """Return phase 3 of a study once no other transaction changes it; raises ``NotSetUp``."""
    phase = session.scalar(
        select(UserStudy).where(UserStudy.study_id == study.id).with_for_update()
    )
    if phase is None:
        raise NotSetUp
    return phase


def settings(phase: UserStudy | None) -> UserStudySettings:
    """Return the settings of phase 3, those of a new one where there is none."""
    if phase is None:
        return UserStudySettings()
    return UserStudySettings(**fields(phase, *UserStudySettings.__struct_fields__))


def set_settings(session: Session, study: Study, values: UserStudySettings, now: datetime) -> None:
    """Set phase 3, logging each change; raises ``UnfitChatbot``. Closed, it may lack a chatbot."""
    if values.is_open or values.endpoint:
        chatbot(values)
    phase = open_or_make(session, study, now)
    for name, old in asdict(settings(phase)).items():
        new = getattr(values, name)
        if old != new:
            setattr(phase, name, new)
            studies.log(session, study, f"phase 3 {name}", study.name, str(old), str(new), now)


def chatbot(values: UserStudySettings) -> Chatbot:
    """Return the chatbot that answers participants; raises ``UnfitChatbot``, of stored keys too."""
    if not values.endpoint:
        raise UnfitChatbot("endpoint", mark("Please fill this in."))
    patience = Patience(seconds=values.answer_seconds, tries=values.tries)
    mapping = _mapping(values)
    try:
        client = Chatbot(values.endpoint, mapping, patience)
    except UnusableAddress as wrong:
        raise UnfitChatbot("endpoint", mark("This is not an http or https address.")) from wrong
    if public_address(client.address) != client.address:
        why = mark("An address with a password, a key or a question mark in it is not kept.")
        raise UnfitChatbot("endpoint", why)
    return client


def assigns_sessions(values: UserStudySettings) -> bool:
    """Whether the chatbot names its sessions itself, according to its mapping."""
    try:
        return _mapping(values).assigns_sessions
    except UnfitChatbot:
        return False


def consent(session: Session, study: Study) -> dict[str, ConsentText]:
    """Return the consent text in force by language; empty where phase 3 was never set up."""
    texts = select(ConsentText).where(ConsentText.study_id == study.id)
    oldest_first = session.scalars(texts.order_by(ConsentText.number))
    return {row.language: row for row in oldest_first}  # the newest of each language stays


def write_consent(session: Session, study: Study, texts: Mapping[str, str], now: datetime) -> int:
    """Return the version of these texts (by language): a new one if any differs, logged."""
    before = consent(session, study)
    number = max((row.number for row in before.values()), default=0)
    stripped = {language: texts[language].strip() for language in LANGUAGES}
    if {language: row.text for language, row in before.items()} == stripped:
        return number
    for language, text in stripped.items():
        session.add(
            ConsentText(
                study_id=study.id, number=number + 1, language=language, text=text, created_at=now
            )
        )
    session.flush()
    if number:
        old, new = str(number), str(number + 1)
        studies.log(session, study, "phase 3 consent", study.name, old, new, now)
    return number + 1


def default_consent() -> dict[str, str]:
    """Return the consent text that phase 3 begins with, by language: English where it has none."""
    texts = texts_of(resource("templates") / "phase_3" / "participants", "consent")
    return {code: texts.get(code, texts[SOURCE_LANGUAGE]).strip() for code in LANGUAGES}


def _mapping(values: UserStudySettings) -> mappings.Mapping:
    if values.api == OPENAI:
        return mappings.openai(values.model or values.llm)
    if values.api != MAPPING:
        return mappings.CONTRACT
    try:
        mapping = mappings.read(MAPPING_NAME, values.mapping.encode())
    except mappings.UnusableMapping as wrong:
        raise UnfitChatbot("mapping", str(wrong)) from wrong
    if any(_SECRET.search(name) and "{env:" not in text for name, text in mapping.headers.items()):
        why = mark("A header that holds a key names an environment variable: {env:NAME}.")
        raise UnfitChatbot("mapping", why)
    return mapping
