"""The forms of runs: labels, the place in the study's order, and files that wait to be stored."""

from __future__ import annotations

from wtforms import BooleanField, Form

from webapp.services.runs import order
from webapp.services.runs.waiting_files import FileDecision
from webapp.web.frame import forms
from webapp.web.frame.fields import LONGEST_LABEL, ChoiceField, LineField, ListField


class LabelsForm(Form):
    """The labels of a run."""

    search_method = LineField(LONGEST_LABEL)
    llm = LineField(LONGEST_LABEL)


class MoveForm(Form):
    """The way a run goes in the study's order."""

    direction = ChoiceField([*order.STEPS])


class WaitingForm(Form):
    """The files that wait, by their tokens, and what becomes of them.

    ``open`` keeps a study open that storing them would make blind; ``study_name`` comes with
    the first run.
    """

    token = ListField()
    open = BooleanField()
    study_name = LineField(LONGEST_LABEL)
    action = ChoiceField(["discard", "look", "store"], default="discard")


class WaitingFileForm(Form):
    """The decisions on one of the files that wait: its rater or its labels."""

    rater = LineField(LONGEST_LABEL)
    shown = LineField(LONGEST_LABEL)
    confirm = BooleanField()
    method = LineField(LONGEST_LABEL)
    llm = LineField(LONGEST_LABEL)
    depends = ListField()

    @classmethod
    def sent(cls, token: str) -> WaitingFileForm:
        """Return the form of the file of that token; raises ``UnusableForm``."""
        return forms.valid(forms.sent(cls, after=f"-{token}"))

    @property
    def decision(self) -> FileDecision:
        """The decision on the file; its rater only if the report that was shown was theirs."""
        name: str = self.rater.data
        return FileDecision(
            rater=name if name and name == self.shown.data else None,
            confirm=self.confirm.data,
            method=self.method.data,
            llm=self.llm.data,
            depends=self.depends.data,
        )
