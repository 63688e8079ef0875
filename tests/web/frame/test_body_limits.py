"""A body may be as large as its sender is known."""

from __future__ import annotations

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from werkzeug.exceptions import RequestEntityTooLarge

from tests.web.frame.bodies import posted, read
from webapp.web.frame.access import OF_KNOWN, OF_STRANGERS, BodyLimits

AT_HOME = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "127.0.0.1:8800"}


FROM_AFAR = {**AT_HOME, "HTTP_X_FORWARDED_FOR": "192.0.2.7"}


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


@pytest.mark.parametrize(
    ("sender", "most"),
    [(AT_HOME, None), (FROM_AFAR, OF_STRANGERS.body)],
    ids=["owner", "stranger"],
)
def test_files_are_taken_from_the_owner_alone(
    app: Flask, client: FlaskClient, sender: dict[str, str], most: int | None
) -> None:
    client.get("/")
    most = most or app.config["MAX_CONTENT_LENGTH"]
    files = {"CONTENT_TYPE": "multipart/form-data; boundary=cut"}

    with app.test_request_context("/", environ_overrides=posted(b"", **sender, **files)):
        app.preprocess_request()

        assert request.max_content_length == most
