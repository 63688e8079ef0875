"""A form is read up to the limits of its sender; what breaks off or is too long is refused."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from webapp.app import create_app
from webapp.config import Settings, sqlite_url
from webapp.web.frame.body_limits import OF_KNOWN, OF_STRANGERS, BodyLimits, limits

TYPED = "application/x-www-form-urlencoded"
AT_HOME = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8800"}
FROM_AFAR = {**AT_HOME, "HTTP_X_FORWARDED_FOR": "192.0.2.7"}
UPLOAD = {"CONTENT_TYPE": "multipart/form-data; boundary=cut"}
MULTIPART = b'--cut\r\nContent-Disposition: form-data; name="card"\r\n\r\na\r\n--cut--\r\n'
Fields = dict[str, list[str]]


def posted(body: bytes, **said: str) -> dict[str, object]:
    """The environment of a request that sends `body` as a browser sends a form."""
    form = {"REQUEST_METHOD": "POST", "CONTENT_TYPE": TYPED, "CONTENT_LENGTH": str(len(body))}
    return {**form, "wsgi.input": BytesIO(body), **said}


def read(app: Flask, environ: dict[str, object]) -> Fields:
    """The fields that the application finds in the form, which holds no file."""
    with app.test_request_context("/", environ_overrides=environ):
        app.preprocess_request()
        assert not request.files
        return request.form.to_dict(flat=False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=st.lists(st.tuples(st.text(max_size=20), st.text(max_size=40))))
def test_whatever_is_typed_arrives(app: Flask, said: list[tuple[str, str]]) -> None:
    sent = MultiDict([(_sent(name), _sent(text)) for name, text in said])

    found = read(app, posted(urlencode(list(sent.items(multi=True))).encode()))

    assert found == sent.to_dict(flat=False)


def _sent(text: str) -> str:
    return text.encode(errors="replace").decode()


def test_a_form_of_another_kind_is_read_too(app: Flask) -> None:
    of_parts = posted(MULTIPART, CONTENT_TYPE="multipart/form-data; boundary=cut")
    named = posted(b"card=a", CONTENT_TYPE=f"{TYPED};charset=UTF-8")

    assert read(app, of_parts) == {"card": ["a"]}
    assert read(app, named) == {"card": ["a"]}
    assert read(app, posted(b"card=a", CONTENT_TYPE="text/plain")) == {}


@pytest.mark.parametrize("length", ["", "-1", "\xb2", "six", "9" * 5_000])
def test_a_length_that_is_none_is_not_believed(app: Flask, length: str) -> None:
    with app.test_request_context("/", environ_overrides=posted(b"", CONTENT_LENGTH=length)):
        try:
            assert not request.form
        except RequestEntityTooLarge:
            assert length.startswith("9")


def test_of_a_form_that_breaks_off_nothing_is_believed(app: Flask) -> None:
    environ = posted(b"card=a&sequence=1", CONTENT_LENGTH="18")

    with (
        app.test_request_context("/", environ_overrides=environ),
        pytest.raises(ClientDisconnected),
    ):
        request.form  # noqa: B018


def test_what_was_read_already_is_not_lost(app: Flask) -> None:
    with app.test_request_context("/", environ_overrides=posted(b"card=a")):
        assert request.get_data() == b"card=a"
        assert request.form["card"] == "a"


@pytest.mark.parametrize(
    ("sender", "most"),
    [
        pytest.param(AT_HOME, OF_KNOWN, id="owner"),
        pytest.param(FROM_AFAR, OF_STRANGERS, id="stranger"),
    ],
)
def test_a_form_may_be_as_long_as_its_sender_s_limit(
    app: Flask, client: FlaskClient, sender: dict[str, str], most: BodyLimits
) -> None:
    client.get("/")

    assert len(read(app, posted(b"a=" + b"x" * (most.body - 2), **sender))["a"][0]) == most.body - 2
    with pytest.raises(RequestEntityTooLarge):
        read(app, posted(b"a=" + b"x" * (most.body - 1), **sender))


def test_files_are_taken_from_the_owner_alone(
    app: Flask, client: FlaskClient, tmp_path: Path
) -> None:
    """The owner is at home as long as nobody signs in, and then has a cookie that we signed."""
    client.get("/")
    signing = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    other = create_app(Settings(sqlite_url(tmp_path / "other.sqlite"), tmp_path))
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
