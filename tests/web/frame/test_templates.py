"""The templates themselves: each compiles, uses only what exists, and is spoken for."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import Environment, meta
from msgspec import Struct

from webapp.config import resource
from webapp.web.agreement import conflicts
from webapp.web.comparisons import comparisons
from webapp.web.evaluations import evaluations, item_rating, machine_agreement
from webapp.web.frame import errors, guides
from webapp.web.gold import card_decisions, constraint_agreement, constraints, gold
from webapp.web.machine_judges import beside_people, judges
from webapp.web.people import raters, sign_in
from webapp.web.phase_3 import findings, own_questions, participants, questionnaires, user_studies
from webapp.web.rating import clicks, judgments, rate
from webapp.web.runs import imports, measures, runs
from webapp.web.study import home, study

FOLDER = resource("templates")
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
PARTS = [name for name in TEMPLATES if Path(name).name.startswith("_")]
CONTEXTS = {
    "frame/guides/page.html": guides.GuidePage,
    "frame/errors/page.html": errors.ErrorPage,
    "frame/errors/_error.html": errors.ErrorPage,
    "study/home/page.html": home.Home,
    "runs/imports/page.html": imports.ImportContext,
    "runs/imports/_imports.html": imports.ImportContext,
    "rating/judgments/page.html": judgments.RatingContext,
    "rating/judgments/_shown.html": judgments.RatingContext,
    "rating/judgments/_clicked.html": judgments.MovedParts,
    "rating/judgments/_notice.html": clicks.Notice,
    "rating/rate/page.html": rate.BlindRatingContext,
    "rating/rate/_shown.html": rate.BlindRatingContext,
    "rating/rate/_clicked.html": rate.BlindMovedParts,
    "rating/rate/done.html": rate.AllDone,
    "rating/rate/_finished.html": rate.AllDone,
    "runs/index.html": runs.Runs,
    "runs/page.html": runs.RunShown,
    "runs/delete.html": runs.Deletion,
    "study/page.html": study.StudyPage,
    "study/_guidelines.html": study.StudyPage,
    "study/_preview.html": study.StudyPage,
    "study/standing.html": study.StandingPage,
    "study/_standing.html": study.StandingPage,
    "people/raters/page.html": raters.Raters,
    "people/raters/remove.html": raters.Removal,
    "people/sign_in/page.html": sign_in.SignIn,
    "people/sign_in/password.html": sign_in.PasswordPage,
    "people/sign_in/join.html": sign_in.Greeting,
    "comparisons/page.html": comparisons.ComparisonPage,
    "comparisons/question.html": comparisons.ComparedQuestionPage,
    "evaluations/index.html": evaluations.EvaluationList,
    "evaluations/_upload.html": evaluations.EvaluationList,
    "evaluations/page.html": evaluations.EvaluationPage,
    "evaluations/items.html": evaluations.ItemsPage,
    "evaluations/_items.html": evaluations.ItemsPage,
    "evaluations/item.html": evaluations.ItemPage,
    "evaluations/_item.html": evaluations.ItemPage,
    "evaluations/people.html": machine_agreement.PeoplePage,
    "evaluations/delete.html": evaluations.EvaluationDeletion,
    "evaluations/item_rating/index.html": item_rating.ItemOffers,
    "evaluations/item_rating/page.html": item_rating.ItemAsked,
    "evaluations/item_rating/_shown.html": item_rating.ItemAsked,
    "phase_3/findings/page.html": findings.FindingsPage,
    "phase_3/findings/questions.html": findings.QuestionsPage,
    "phase_3/findings/_question.html": findings.QuestionPart,
    "phase_3/findings/comments.html": findings.CommentsPage,
    "phase_3/findings/_comment.html": findings.CommentPart,
    "phase_3/findings/withdraw.html": findings.WithdrawalPage,
    "machine_judges/page.html": judges.JudgesPage,
    "machine_judges/new.html": judges.NewJudgePage,
    "machine_judges/judge.html": judges.JudgePage,
    "machine_judges/_work.html": judges.WorkPart,
    "machine_judges/agreement.html": beside_people.BesidePage,
    "runs/measures/page.html": measures.MeasuresPage,
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
    "gold/index.html": gold.GoldSets,
    "gold/page.html": gold.GoldPage,
    "gold/_met.html": gold.GoldPage,
    "gold/question.html": gold.GoldQuestionPage,
    "gold/_preview.html": gold.GoldQuestionPage,
    "gold/card_badges/_decided.html": card_decisions.Decided,
    "gold/constraints/page.html": constraints.ConstraintsPage,
    "gold/constraints/question.html": constraints.CheckedQuestionPage,
    "gold/constraints/_clicked.html": constraints.CheckedQuestionPage,
    "gold/constraint_agreement/page.html": constraint_agreement.ConstraintAgreementPage,
    "agreement/conflicts/page.html": conflicts.ConflictsPage,
    "agreement/conflicts/_report.html": conflicts.ConflictsPage,
}
FRAME = {"url_for", "range", "loop"}


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_compiles(app: Flask, name: str) -> None:
    app.jinja_env.get_template(name)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_says_what_it_needs(name: str) -> None:
    head = (FOLDER / name).read_text("utf-8").split("-#}")[0]

    assert head.startswith("{#- ")
    assert re.search(r"[Pp]arameters", head)


@pytest.mark.parametrize("name", [name for name in CONTEXTS if name not in PARTS])
def test_every_page_has_a_title(name: str) -> None:
    assert "{% block title %}" in (FOLDER / name).read_text("utf-8")


@pytest.mark.parametrize(("name", "context"), CONTEXTS.items())
def test_a_page_uses_only_what_its_context_has(
    app: Flask, name: str, context: type[Struct]
) -> None:
    allowed = set(context.__struct_fields__) | set(app.jinja_env.globals) | FRAME

    assert used(app, name, set()) - allowed == set()


@pytest.mark.parametrize("name", TEMPLATES)
def test_all_visible_text_goes_through_gettext(name: str) -> None:
    source = (FOLDER / name).read_text("utf-8")
    for unseen in (r"\{#.*?#\}", r"\{%.*?%\}", r"\{\{.*?\}\}", r"<(?:pre|code|kbd).*?</\w+>"):
        source = re.sub(unseen, " ", source, flags=re.DOTALL)
    shown = " ".join(re.findall(r">([^<>]*)<", source)).replace("Relevansi", "")

    assert re.findall(r"[A-Za-z]{3,}", re.sub(r"&\w+;|SHA|metrics\.json", "", shown)) == []


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_template_holds_script_or_style(name: str) -> None:
    source = (FOLDER / name).read_text("utf-8")

    assert not re.search(
        r"<style(?!>\{\{ \w+ \}\}<)|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|hx-on", source
    )


def used(app: Flask, name: str, seen: set[str]) -> set[str]:
    """Return the names that a template and those it includes take from their context."""
    seen.add(name)
    taken, others, own = read(app.jinja_env, name)
    found = set(taken)
    for other in others:
        if other not in seen:
            found |= used(app, other, seen)
    return found - own


@cache
def read(environment: Environment, name: str) -> tuple[set[str], set[str], set[str]]:
    """Return what one template takes from its context, includes, and gives itself."""
    source = (FOLDER / name).read_text("utf-8")
    tree = environment.parse(source)
    others = {other for other in meta.find_referenced_templates(tree) if other}
    return meta.find_undeclared_variables(tree), others, given(source)


def given(source: str) -> set[str]:
    """Return the names that a template sets or imports for itself and its parts."""
    listed = re.findall(r"\{%-? (?:set|for) ([\w, ]+?) (?:=|in|%)", source)
    aliases = re.findall(r'\{% import "[^"]+" as (\w+)', source)
    return {name.strip() for group in listed for name in group.split(",")} | set(aliases)
