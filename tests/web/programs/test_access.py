"""Every address for programs with every kind of token: whom it answers."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from relevansi.services.people.tokens import SCOPES, Scope
from relevansi.web.features import Role, role_for
from relevansi.web.programs import api
from relevansi.web.programs.operations import OPERATIONS, Operation
from tests.web import visitors
from tests.web.programs.program import Program
from tests.web.roles import everything

OF_RATERS = {"take_task", "show_task", "judge_card", "rate_task"}
"""What a rater's token is good for; all else is the owner's."""
BY_SCOPE: dict[Scope, set[str]] = {
    "gate": {"pass_gate"},
    "import": {"import_runs", "import_catalogue", "pass_gate", "show_job"},
    "judge": {"judge_item", "rate_answer", *OF_RATERS},
    "everything": set(OPERATIONS),
}
BY_SCOPE["read"] = set(OPERATIONS) - {
    *("import_runs", "import_catalogue", "pass_gate", "delete_run", "judge_item", "rate_answer"),
    *("take_task", "judge_card", "rate_task"),
}


assert api.list_runs.__name__ in OPERATIONS


def path_of(operation: Operation) -> str:
    return re.sub(r"<int:\w+>", "1", re.sub(r"<\w+_id>|<name>", "unknown", operation.rule))


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("rater", [None, "Ani"])
def test_an_address_answers_the_role_and_the_scope_that_it_names(
    app: Flask, run_id: str, rater: str | None, scope: Scope
) -> None:
    """Others are refused with 401 or 403, nothing is stored, and no name of the study is told."""
    assert run_id
    program = Program(app, scope, rater=rater)

    def ask(operation: Operation) -> TestResponse:
        return program.ask(operation.method, path_of(operation).replace("unknown", "x"))

    is_open = {
        name: name in BY_SCOPE[scope] and (rater is None or name in OF_RATERS)
        for name in OPERATIONS
    }
    before = everything(app.extensions["database"])
    for name, operation in OPERATIONS.items():
        if not is_open[name]:
            response = ask(operation)
            assert response.status_code in {401, 403}, (name, response.text)
            assert "hybrid" not in response.text
            assert "Question 1" not in response.text
    changed = everything(app.extensions["database"])
    del before["tokens"], changed["tokens"]  # when it was last used
    assert changed == before

    for name, operation in OPERATIONS.items():
        if is_open[name]:
            response = ask(operation)
            assert response.status_code not in {401, 403}, (name, response.text)


def test_each_address_names_the_scopes_that_open_it() -> None:
    """The list of this file is that of the addresses, in both directions."""
    for name, operation in OPERATIONS.items():
        opening = {scope for scope in SCOPES if name in BY_SCOPE[scope]}
        assert opening == {*operation.scopes, "everything"}, name


def test_the_roles_are_those_of_the_list() -> None:
    """No address for programs is open to raters that is not named here."""
    assert {name for name in OPERATIONS if role_for(f"api.{name}") is Role.RATERS} == OF_RATERS


def test_a_cookie_opens_no_address_and_a_token_no_page(app: Flask, run_id: str) -> None:
    """Who signed in in a browser needs a token here, and a token is no sign-in there."""
    visitors.lock(app.extensions["database"])
    owner, program = visitors.owner(app), Program(app)
    page = program.client.get(f"/runs/{run_id}", headers=program.headers)

    assert owner.get("/api/v1/runs").status_code == 401
    assert page.status_code == 303
    assert "/sign-in" in str(page.location)


def test_a_token_is_answered_from_another_machine(app: Flask) -> None:
    """It proves who asks, also while pages are for this machine alone."""
    program = Program(app)
    program.client.environ_base.update(visitors.ELSEWHERE)

    assert program.client.get("/").status_code == 403
    assert program.ask("GET", "/runs").status_code == 200


def test_another_site_cannot_use_a_token(app: Flask) -> None:
    """A request that changes something and that a browser made for another site is refused."""
    program = Program(app)
    for header in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        program.headers.update(header)
        assert program.ask("POST", "/tasks").status_code == 403
