"""The pages of phase 3 have titles, and use only what their contexts have."""

from __future__ import annotations

from tests.web.template_names import of_names, of_titles
from webapp.web.phase_3 import findings, own_questions, participants, user_studies

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
    "phase_3/questionnaires/page.html": participants.Closing,
    "phase_3/questionnaires/_saved.html": participants.Saved,
    "phase_3/questionnaires/thanks.html": participants.Thanks,
}

test_every_page_has_a_title = of_titles(CONTEXTS)
test_a_page_uses_only_what_its_context_has = of_names(CONTEXTS)
