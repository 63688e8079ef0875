"""A body may be as large as its sender is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.exceptions import RequestEntityTooLarge

from tests.web.frame.bodies import posted, read
from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.web.frame.body_limits import OF_KNOWN, OF_STRANGERS, BodyLimits, limits

AT_HOME = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8800"}


FROM_AFAR = {**AT_HOME, "HTTP_X_FORWARDED_FOR": "192.0.2.7"}


UPLOAD = {"CONTENT_TYPE": "multipart/form-data; boundary=cut"}


@pytest.mark.parametrize(
    ("sender", "most"),
    [
        pytest.param(AT_HOME, OF_KNOWN, id="owner"),
        pytest.param(FROM_AFAR, OF_STRANGERS, id="stranger"),
    ],
)
def test_a_form_may_be_as_long_and_have_as_many_fields_as_its_sender_s_limits(
    app: Flask, client: FlaskClient, sender: dict[str, str], most: BodyLimits
) -> None:
    client.get("/")

    fields = b"&".join([b"a="] * most.fields)

    assert len(read(app, posted(b"a=" + b"x" * (most.body - 2), **sender))["a"][0]) == most.body - 2
    assert len(read(app, posted(fields, **sender))["a"]) == most.fields
    for body in (b"a=" + b"x" * (most.body - 1), fields + b"&a="):
        with pytest.raises(RequestEntityTooLarge):
            read(app, posted(body, **sender))


def test_files_are_taken_from_the_owner_alone(
    app: Flask, client: FlaskClient, tmp_path: Path
) -> None:
    """The owner is at home as long as nobody signs in, and then has a cookie that we signed."""
    client.get("/")
    signing = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    other = create_app(Settings(sqlite_url(tmp_path / "other.sqlite"), tmp_path))
    other.extensions["database"].close()
    forging = other.session_interface.get_signing_serializer(other)  # type: ignore[attr-defined]
    name, most = app.config["SESSION_COOKIE_NAME"], app.config["MAX_CONTENT_LENGTH"]

    def largest(badge: Mapping[str, object], key: str = "badge", by: Any = signing) -> int:
        cookie = {"HTTP_COOKIE": f"{name}={by.dumps({key: badge})}"}
        return limits(app, {**FROM_AFAR, **UPLOAD, **cookie}).body

    owner = {"rater_id": 1, "invitation_id": None, "seal": "s"}

    assert limits(app, {**AT_HOME, **UPLOAD}).body == most
    assert limits(app, {**FROM_AFAR, **UPLOAD}).body == OF_STRANGERS.body
    assert largest(owner) == most
    assert largest(owner, by=forging) == OF_STRANGERS.body
    assert largest({**owner, "invitation_id": 7}) == OF_KNOWN.body
    assert largest({"participant_id": 1}, key="participant") == OF_KNOWN.body
    assert largest({}, key="language") == OF_STRANGERS.body


def test_once_somebody_signs_in_this_machine_sends_no_file_unknown(
    app: Flask, client: FlaskClient
) -> None:
    client.post("/sign-in/first", data={"password": "a" * 10, "again": "a" * 10})
    client.get("/")

    assert limits(app, {**AT_HOME, **UPLOAD}).body == OF_STRANGERS.body
