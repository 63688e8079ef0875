"""The frame of a page names the study and who looks at it; static files go by their content."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from flask import Flask

from tests.web.visitors import lock
from webapp.db.engine import Database
from webapp.web.frame.site import site, static_address


def test_on_one_laptop_the_frame_names_the_study_and_its_owner(app: Flask) -> None:
    with app.test_request_context("/", base_url="http://127.0.0.1:8000"):
        app.preprocess_request()
        frame = site()

    assert (frame.is_owner, frame.is_local, frame.home) == (True, True, "home.show")
    assert frame.study
    assert frame.rater
    assert set(frame.languages) == {"id", "en"}
    assert "item_rating.index" not in [entry.endpoint for entry in frame.rater_menu]


def test_a_stranger_reads_no_name(app: Flask, web_database: Database) -> None:
    lock(web_database)
    with app.test_request_context("/sign-in/", base_url="http://127.0.0.1:8000"):
        app.preprocess_request()
        frame = site()

    assert (frame.study, frame.rater, frame.guest, frame.key) == ("", "", "", "")
    assert not frame.is_owner


def test_the_address_of_a_static_file_moves_with_its_content(
    app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "static_folder", str(tmp_path))
    file = tmp_path / "a.css"
    addresses = []
    with app.test_request_context("/"):
        for number, text in enumerate(("one", "two", "one")):
            file.write_text(text)
            # Distinct times, however coarse the clock of the file system is.
            stamp = 1_700_000_000 + number
            os.utime(file, (stamp, stamp))
            addresses.append(static_address("a.css"))
        missing = static_address("b.css")

    assert addresses[0] == addresses[2] != addresses[1]
    assert missing.endswith("v=missing")
