"""The owner's settings of a study, as a form."""

from __future__ import annotations

from typing import get_args

from msgspec.structs import asdict, replace
from wtforms import BooleanField, Form

from webapp.i18n import SOURCE_LANGUAGE, language
from webapp.records import CannotTell
from webapp.services.study import studies
from webapp.services.study.studies import Switches
from webapp.web.frame.fields import (
    LONGEST_ANSWER,
    LONGEST_LABEL,
    ChoiceField,
    LineField,
    TextField,
    WholeField,
)

MOST_RATERS = 1000
DEEPEST = 10_000


class StudyForm(Form):
    """The owner's settings of a study; an empty number means all."""

    name = LineField(LONGEST_LABEL, required=True)
    guidelines = TextField(LONGEST_ANSWER)
    blind = ChoiceField({"auto": None, "yes": True, "no": False})
    shuffle_questions = ChoiceField({"given": False, "shuffled": True}, name="order", default=False)
    figures = ChoiceField(["progress", "all"], default="progress")
    overlap = WholeField(1, MOST_RATERS)
    pool_depth = WholeField(1, DEEPEST)
    cannot_tell = ChoiceField(get_args(CannotTell), default="not_relevant")
    repeat_percent = WholeField(0, 100, required=True)
    allow_bulk = BooleanField()
    show_pictures = BooleanField()
    badges_while_blind = BooleanField()
    show_record = BooleanField()
    suggest_quality = ChoiceField({"open": None, "yes": True, "no": False})

    @classmethod
    def showing(cls, switches: Switches) -> StudyForm:
        """Return the form filled with a study's settings, the starter guidelines if they show."""
        data = asdict(switches)
        if switches.starter_guidelines:
            texts = studies.starters()
            data["guidelines"] = texts.get(language(), texts[SOURCE_LANGUAGE])
        return cls(data=data)

    def switches(self, before: Switches) -> Switches:
        """Return the settings of a valid form; those without a field stay as in `before`.

        A starter text that was not edited stays the starter, which each reader has in their
        language.
        """
        wanted = replace(before, **self.data)
        if not before.starter_guidelines:
            return wanted
        if self.guidelines.data.strip() in studies.starters().values():
            return replace(wanted, guidelines=before.guidelines)
        return replace(wanted, starter_guidelines=False)
