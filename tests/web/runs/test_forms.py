"""The forms of runs: a direction, and the decisions on each of the files that wait."""

from __future__ import annotations

import pytest
from flask import Flask

from webapp.web.frame import forms
from webapp.web.frame.forms import UnusableForm, checked
from webapp.web.runs.imports import MoveForm, WaitingFileForm, WaitingForm


@pytest.mark.parametrize("said", [{}, {"direction": ""}, {"direction": "left"}])
def test_a_run_moves_in_a_direction_that_there_is(app: Flask, said: dict[str, str]) -> None:
    with app.test_request_context(method="POST", data=said), pytest.raises(UnusableForm):
        checked(MoveForm)
    with app.test_request_context(method="POST", data={"direction": "up"}):
        assert checked(MoveForm).direction.data == "up"


def test_each_waiting_file_has_its_own_decisions(app: Flask) -> None:
    said = {
        "token": ["one", "two"],
        "action": "store",
        "rater-one": " Ani ",
        "shown-one": "Ani",
        "confirm-one": "1",
        "rater-two": "Budi",
        "shown-two": "Ani",
        "depends-two": ["3", "4"],
    }
    with app.test_request_context(method="POST", data=said):
        waiting = checked(WaitingForm)
        one, two = (forms.sent(WaitingFileForm, after=f"-{name}") for name in waiting.token.data)

    assert (waiting.action.data, waiting.token.data) == ("store", ["one", "two"])
    assert (one.decision().rater, one.confirm.data, one.depends.data) == ("Ani", True, [])
    assert (two.decision().rater, two.confirm.data, two.depends.data) == (None, False, ["3", "4"])


def test_files_are_forgotten_where_no_action_is_named(app: Flask) -> None:
    with app.test_request_context(method="POST", data={"token": "one"}):
        assert checked(WaitingForm).action.data == "discard"
