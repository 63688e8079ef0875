"""Progress puts every question in one part."""

from __future__ import annotations

from tests.exporters.comparisons.comparisons import (
    three_runs,
)
from webapp.exporters.comparisons.charts.pictures import (
    PictureChoice,
    drawn,
)


def test_progress_puts_every_question_in_one_part() -> None:
    picture = drawn(three_runs(), PictureChoice("progress"))

    assert "hybrid: 6 complete." in picture.description
    assert (
        "vector_only: 2 complete, 2 waiting for verdicts, 1 unreadable, 1 not run."
        in picture.description
    )
    assert "api_only: 5 complete, 1 failed call." in picture.description
