"""Requests with a body, and what is read of them."""

from __future__ import annotations

from io import BytesIO

from flask import Flask, request

TYPED = "application/x-www-form-urlencoded"
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
