"""The pages of machine judges have titles, and use only what their contexts have."""

from __future__ import annotations

import pytest
from flask import Flask
from msgspec import Struct

from tests.web.template_names import has_title, pages, unknown
from webapp.web.machine_judges import beside_people, judges

CONTEXTS = {
    "machine_judges/page.html": judges.JudgesPage,
    "machine_judges/new.html": judges.NewJudgePage,
    "machine_judges/judge.html": judges.JudgePage,
    "machine_judges/_work.html": judges.WorkPart,
    "machine_judges/agreement.html": beside_people.BesidePage,
}


@pytest.mark.parametrize("name", pages(CONTEXTS))
def test_every_page_has_a_title(name: str) -> None:
    assert has_title(name)


@pytest.mark.parametrize(("name", "context"), CONTEXTS.items())
def test_a_page_uses_only_what_its_context_has(
    app: Flask, name: str, context: type[Struct]
) -> None:
    assert unknown(app, name, context) == set()
