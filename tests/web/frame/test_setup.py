"""The application prints clean text, forgives no missing value, and finds no endless number."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import UndefinedError

from webapp.db.engine import Database
from webapp.web.frame.setup import LARGEST_NUMBER


def printed(app: Flask, template: str, **values: object) -> str:
    """Return what a template prints in a request."""
    with app.test_request_context("/"):
        return app.jinja_env.from_string(template).render(**values)


def test_a_value_is_printed_without_control_characters_and_reordering_marks(app: Flask) -> None:
    assert printed(app, "{{ name }}", name="a\x07b\u202ec") == printed(app, "abc")
    assert printed(app, "{{ name }}", name="<b>") == "&lt;b&gt;"


def test_a_template_that_misses_a_value_fails(app: Flask) -> None:
    with pytest.raises(UndefinedError):
        printed(app, "{{ nothing }}")


@pytest.mark.parametrize("number", [LARGEST_NUMBER, LARGEST_NUMBER + 1, 10**30])
def test_a_number_that_no_database_holds_is_not_found(
    client: FlaskClient, run_id: str, number: int
) -> None:
    assert client.get(f"/runs/{run_id}/queries/{number}").status_code == 404


def test_every_application_has_a_database_with_a_study_and_workers(
    app: Flask, web_database: Database
) -> None:
    assert app.extensions["workers"].is_idle(0)
    web_database.check_file()
    assert app.test_client().get("/").status_code == 200
