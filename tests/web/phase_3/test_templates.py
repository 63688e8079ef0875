"""The pages of phase 3 have titles, and use only what their contexts have."""

from __future__ import annotations

import pytest
from flask import Flask
from msgspec import Struct

from tests.web.template_names import has_title, pages, unknown
from webapp.web.phase_3 import findings, own_questions, participants, questionnaires, user_studies

CONTEXTS = {
    "phase_3/findings/page.html": findings.FindingsPage,
    "phase_3/findings/questions.html": findings.QuestionsPage,
    "phase_3/findings/_question.html": findings.QuestionPart,
    "phase_3/findings/comments.html": findings.CommentsPage,
    "phase_3/findings/_comment.html": findings.CommentPart,
    "phase_3/findings/withdraw.html": findings.WithdrawalPage,
    "phase_3/user_studies/page.html": user_studies.UserStudyPage,
    "phase_3/participants/consent.html": participants.ConsentPage,
    "phase_3/participants/declined.html": participants.Declined,
    "phase_3/participants/link.html": participants.LinkPage,
    "phase_3/own_questions/page.html": own_questions.ParticipantHome,
    "phase_3/own_questions/asked.html": own_questions.WaitingPage,
    "phase_3/own_questions/_asking.html": own_questions.WaitingPage,
    "phase_3/own_questions/answer.html": own_questions.OwnAnswerContext,
    "phase_3/own_questions/_clicked.html": own_questions.OwnAnswerContext,
    "phase_3/own_questions/_shown.html": own_questions.OwnAnswerContext,
    "phase_3/questionnaires/page.html": questionnaires.Closing,
    "phase_3/questionnaires/_saved.html": questionnaires.Saved,
    "phase_3/questionnaires/thanks.html": questionnaires.Thanks,
}


@pytest.mark.parametrize("name", pages(CONTEXTS))
def test_every_page_has_a_title(name: str) -> None:
    assert has_title(name)


@pytest.mark.parametrize(("name", "context"), CONTEXTS.items())
def test_a_page_uses_only_what_its_context_has(
    app: Flask, name: str, context: type[Struct]
) -> None:
    assert unknown(app, name, context) == set()
