"""Every address with every verb, and whom its door lets in: the matrix of roles.

The list of addresses is the application's own, so that none is forgotten.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.routing import AnyConverter, IntegerConverter, Rule
from werkzeug.test import TestResponse

from relevansi.db.engine import Database
from relevansi.db.tables.base import Base
from relevansi.db.tables.people import Attempt
from relevansi.web.features import Role, role_for
from tests.web import visitors

ROLES = ("owner", "rater", "participant", "stranger")
OWN_ANSWER = {"sign_in.choose", "sign_in.set_first", "sign_in.leave"}
"""Those that decide by themselves whom they answer, or end the sign-in; see test_sign_in."""
PLACES = {
    "name": "phase3.xlsx",
    "run_id": "unknown",
    "task_id": "unknown",
    "token": "unknown",
    "filename": "frame/parts.css",
}


@dataclass(frozen=True, slots=True)
class Knock:
    endpoint: str
    path: str
    method: str
    role: Role


def rules(app: Flask) -> list[Rule]:
    return sorted(app.url_map.iter_rules(), key=lambda rule: (rule.rule, rule.endpoint))


def knocks(app: Flask, run_id: str = "unknown") -> Iterator[Knock]:
    adapter = app.url_map.bind("localhost")
    for rule in rules(app):
        if is_for_programs(rule.endpoint):
            continue
        values = {name: filled(rule, name, run_id) for name in rule.arguments}
        path = adapter.build(rule.endpoint, values, force_external=False)
        for method in sorted((rule.methods or set()) - {"HEAD"}):  # Flask answers it as GET
            yield Knock(rule.endpoint, path, method, role_for(rule.endpoint))


def is_for_programs(endpoint: str) -> bool:
    """Whether it takes a token and knows no cookie; its own matrix is in tests/web/programs."""
    return endpoint.startswith("api.") and endpoint != "api.openapi"


def filled(rule: Rule, name: str, run_id: str) -> object:
    if name == "run_id":
        return run_id
    if rule.defaults and name in rule.defaults:
        return rule.defaults[name]
    converter = rule._converters[name]
    if isinstance(converter, AnyConverter):
        return min(converter.items)
    return 1 if isinstance(converter, IntegerConverter) else PLACES.get(name, "unknown")


def is_refused(status: int, location: str) -> bool:
    return status in {401, 403} or (status == 303 and "/sign-in?next=" in location)


def is_open_to(role: str, needed: Role | None) -> bool:
    if needed == Role.GUESTS or role == "participant":
        return needed == Role.ANYBODY or (needed == Role.GUESTS and role == "participant")
    if needed == Role.ANYBODY or role == "owner":
        return True
    return needed == Role.RATERS and role == "rater"


NOTHING: Mapping[str, str] = MappingProxyType({})


def cookie_of(client: FlaskClient, app: Flask) -> str | None:
    cookie = client.get_cookie(app.config["SESSION_COOKIE_NAME"])
    return cookie.value if cookie else None


def as_seen_by(
    app: Flask, cookie: str | None, knock: Knock, headers: Mapping[str, str] = NOTHING
) -> TestResponse:
    client = visitors.browser(app)
    if cookie is not None:
        client.set_cookie(app.config["SESSION_COOKIE_NAME"], cookie)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # files of /static stay unread
        response = client.open(knock.path, method=knock.method, headers=headers)
        response.close()
    return response


def everything(
    database: Database, *, with_tries: bool = False
) -> dict[str, list[tuple[object, ...]]]:
    with database.reading() as session:
        return {
            name: sorted(tuple(map(str, row)) for row in session.execute(select(table)))
            for name, table in Base.metadata.tables.items()
            if with_tries or name != Attempt.__tablename__
        }


def refused_at_open_doors(app: Flask, client: FlaskClient, role: str) -> list[tuple[str, ...]]:
    """Return the knocks at doors open to a role at which its visitor was refused.

    Forms are sent last.
    """
    cookie = cookie_of(client, app)
    opened = [knock for knock in knocks(app) if is_open_to(role, knock.role)]
    return [
        (knock.method, knock.path, response.status)
        for knock in sorted(opened, key=lambda knock: knock.method == "POST")
        if knock.endpoint not in OWN_ANSWER
        for response in [as_seen_by(app, cookie, knock)]
        if is_refused(response.status_code, response.headers.get("Location", ""))
    ]


def assert_closed(app: Flask, client: FlaskClient, role: str, run_id: str) -> None:
    """Knock at every door closed to a role: each refuses, changes nothing and tells nothing.

    A rater gets the same answer for a run that exists and for one that does not.
    """
    database: Database = app.extensions["database"]
    cookie = cookie_of(client, app)
    before = everything(database)
    both = zip(knocks(app, run_id), knocks(app), strict=True)
    closed = [(knock, away) for knock, away in both if not is_open_to(role, knock.role)]
    assert len(closed) > 30

    for knock, away in closed:
        response = as_seen_by(app, cookie, knock)
        if knock.endpoint not in OWN_ANSWER:
            assert is_refused(response.status_code, response.headers.get("Location", "")), knock
        for secret in ("hybrid", "test_results.json", "Question 1", str(database.description)):
            assert secret not in response.text, knock
        if role == "rater" and knock.role == Role.OWNER:
            assert response.status_code == 403
        if role == "rater" and knock.role == Role.OWNER and knock.path != away.path:
            unknown_run = as_seen_by(app, cookie, away)
            assert (response.status_code, response.text) == (
                unknown_run.status_code,
                unknown_run.text,
            )

    assert everything(database) == before


def stored_by_links_from_elsewhere(app: Flask, client: FlaskClient, run_id: str) -> set[str]:
    """Follow every link from another site, which stores nothing; return the pages that ask first.

    A link that would store something (a next question, a log entry) shows a button first.
    """
    database: Database = app.extensions["database"]
    cookie = cookie_of(client, app)
    before, would_store = everything(database, with_tries=True), set()

    for knock in knocks(app, run_id):
        if knock.method == "GET" and knock.endpoint != "static":
            response = as_seen_by(app, cookie, knock, {"Sec-Fetch-Site": "cross-site"})
            would_store |= {knock.endpoint} if b"One more step" in response.data else set()

    assert everything(database, with_tries=True) == before
    return would_store
