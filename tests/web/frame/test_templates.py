"""The templates themselves: each compiles, uses only what exists, and is spoken for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask

from tests.web.template_names import FOLDER, of_names, of_titles
from webapp.web.agreement import conflicts
from webapp.web.frame import errors, guides
from webapp.web.people import raters, sign_in
from webapp.web.study import home, study

TEMPLATES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.html"))
PARTS = [name for name in TEMPLATES if Path(name).name.startswith("_")]
CONTEXTS = {
    "frame/guides/page.html": guides.GuidePage,
    "frame/errors/page.html": errors.ErrorPage,
    "frame/errors/_error.html": errors.ErrorPage,
    "study/home/page.html": home.Home,
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
    "agreement/conflicts/page.html": conflicts.ConflictsPage,
    "agreement/conflicts/_report.html": conflicts.ConflictsPage,
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_compiles(app: Flask, name: str) -> None:
    app.jinja_env.get_template(name)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_says_what_it_needs(name: str) -> None:
    head = (FOLDER / name).read_text("utf-8").split("-#}")[0]

    assert head.startswith("{#- ")
    assert re.search(r"[Pp]arameters", head)


test_every_page_has_a_title = of_titles(CONTEXTS)
test_a_page_uses_only_what_its_context_has = of_names(CONTEXTS)


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
