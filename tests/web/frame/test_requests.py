"""A form is read up to the limits of its sender; what breaks off or is too long is refused."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from flask import Flask, request
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge

from tests.web.frame.bodies import TYPED, posted, read

MULTIPART = b'--cut\r\nContent-Disposition: form-data; name="card"\r\n\r\na\r\n--cut--\r\n'


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
