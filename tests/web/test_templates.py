"""The templates themselves: each compiles, uses only what exists, and is spoken for."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import Environment, meta

from webapp.config import resource
from webapp.web import (
    card_decisions,
    comparisons,
    conflicts,
    constraint_agreement,
    constraints,
    errors,
    evaluations,
    findings,
    gold,
    home,
    imports,
    item_rating,
    judgments,
    machine_agreement,
    machine_beside_people,
    machine_judges,
    measures,
    own_questions,
    participants,
    questionnaires,
    rate,
    raters,
    runs,
    sign_in,
    study,
    user_studies,
)

FOLDER = resource("templates")
TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
PARTS = [name for name in TEMPLATES if Path(name).name.startswith("_")]
CONTEXTS = {
    "errors/page.html": errors.ErrorPage,
    "errors/_error.html": errors.ErrorPage,
    "home/page.html": home.Home,
    "imports/page.html": imports.Shown,
    "imports/_imports.html": imports.Shown,
    "judgments/page.html": judgments.Rating,
    "judgments/_shown.html": judgments.Rating,
    "judgments/_clicked.html": judgments.Moved,
    "judgments/_notice.html": judgments.Notice,
    "rate/page.html": rate.Rated,
    "rate/_shown.html": rate.Rated,
    "rate/_clicked.html": rate.Moved,
    "rate/done.html": rate.AllDone,
    "rate/_finished.html": rate.AllDone,
    "runs/index.html": runs.Runs,
    "runs/page.html": runs.RunShown,
    "runs/delete.html": runs.Deletion,
    "study/page.html": study.StudyPage,
    "study/_guidelines.html": study.StudyPage,
    "study/_preview.html": study.StudyPage,
    "study/standing.html": study.StandingPage,
    "study/_standing.html": study.StandingPage,
    "raters/page.html": raters.Raters,
    "raters/remove.html": raters.Removal,
    "sign_in/page.html": sign_in.SignIn,
    "sign_in/password.html": sign_in.PasswordPage,
    "sign_in/join.html": sign_in.Greeting,
    "comparisons/page.html": comparisons.ComparisonPage,
    "comparisons/question.html": comparisons.QuestionPage,
    "evaluations/index.html": evaluations.EvaluationList,
    "evaluations/_upload.html": evaluations.EvaluationList,
    "evaluations/page.html": evaluations.EvaluationPage,
    "evaluations/items.html": evaluations.ItemsPage,
    "evaluations/_items.html": evaluations.ItemsPage,
    "evaluations/item.html": evaluations.ItemPage,
    "evaluations/_item.html": evaluations.ItemPage,
    "evaluations/people.html": machine_agreement.PeoplePage,
    "evaluations/delete.html": evaluations.EvaluationDeletion,
    "item_rating/index.html": item_rating.ItemOffers,
    "item_rating/page.html": item_rating.ItemAsked,
    "item_rating/_shown.html": item_rating.ItemAsked,
    "findings/page.html": findings.FindingsPage,
    "findings/questions.html": findings.QuestionsPage,
    "findings/_question.html": findings.QuestionPart,
    "findings/comments.html": findings.CommentsPage,
    "findings/_comment.html": findings.CommentPart,
    "findings/withdraw.html": findings.WithdrawalPage,
    "machine_judges/page.html": machine_judges.JudgesPage,
    "machine_judges/new.html": machine_judges.NewJudgePage,
    "machine_judges/judge.html": machine_judges.JudgePage,
    "machine_judges/_work.html": machine_judges.WorkPart,
    "machine_judges/agreement.html": machine_beside_people.BesidePage,
    "measures/page.html": measures.MeasuresPage,
    "user_studies/page.html": user_studies.UserStudyPage,
    "participants/consent.html": participants.ConsentPage,
    "participants/declined.html": participants.Declined,
    "participants/link.html": participants.LinkPage,
    "own_questions/page.html": own_questions.Home,
    "own_questions/asked.html": own_questions.Asked,
    "own_questions/_asking.html": own_questions.Asked,
    "own_questions/answer.html": own_questions.Rated,
    "own_questions/_clicked.html": own_questions.Rated,
    "own_questions/_shown.html": own_questions.Rated,
    "questionnaires/page.html": questionnaires.Closing,
    "questionnaires/_saved.html": questionnaires.Saved,
    "questionnaires/thanks.html": questionnaires.Thanks,
    "gold/index.html": gold.GoldSets,
    "gold/page.html": gold.GoldPage,
    "gold/_met.html": gold.GoldPage,
    "gold/question.html": gold.QuestionForm,
    "gold/_preview.html": gold.QuestionForm,
    "card_badges/_decided.html": card_decisions.Decided,
    "constraints/page.html": constraints.ConstraintsPage,
    "constraints/question.html": constraints.QuestionPage,
    "constraints/_clicked.html": constraints.QuestionPage,
    "constraint_agreement/page.html": constraint_agreement.ConstraintAgreementPage,
    "conflicts/page.html": conflicts.ConflictsPage,
    "conflicts/_report.html": conflicts.ConflictsPage,
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
def test_a_page_uses_only_what_its_context_has(app: Flask, name: str, context: type) -> None:
    allowed = {field.name for field in fields(context)} | set(app.jinja_env.globals) | FRAME

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

    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc=)|hx-on", source)


def test_only_one_module_knows_the_headers_of_htmx() -> None:
    package = Path(judgments.__file__).parents[1]
    found = [path.name for path in package.rglob("*.py") if "HX-" in path.read_text("utf-8")]

    assert found == ["htmx.py"]


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
