"""The settings of a study as a form: what it shows is what it reads."""

from __future__ import annotations

import pytest
from flask import Flask

from webapp.services.study.studies import Switches
from webapp.web.frame.forms import sent, typed
from webapp.web.study.study import StudyForm


@pytest.mark.parametrize(
    "switches",
    [
        Switches("House search"),
        Switches("A", blind=True, shuffle_questions=True, overlap=2, figures="all"),
        Switches("B", blind=False, pool_depth=20, repeat_percent=0, guidelines="a\n b "),
    ],
)
def test_a_form_that_is_sent_as_it_was_shown_changes_nothing(
    app: Flask, switches: Switches
) -> None:
    shown = typed(StudyForm.showing(switches))
    with app.test_request_context(method="POST", data=shown):
        form = sent(StudyForm)

    assert form.validate(), form.errors
    assert form.switches(switches) == switches


def test_an_empty_number_means_all_where_it_may(app: Flask) -> None:
    said = {"name": "A", "overlap": "", "pool_depth": "", "repeat_percent": ""}
    with app.test_request_context(method="POST", data=said):
        form = sent(StudyForm)

    assert not form.validate()
    assert form.errors.keys() == {"repeat_percent"}
    assert (form.overlap.data, form.pool_depth.data) == (None, None)
