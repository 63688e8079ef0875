"""A file to take away has its bytes, its kind and its name."""

from __future__ import annotations

from webapp.web.frame.downloads import attached


def test_a_file_is_stored_under_its_name() -> None:
    response = attached(b"1", "text/csv; charset=utf-8", "penilaian 1.csv")

    assert response.data == b"1"
    assert response.content_type == "text/csv; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="penilaian 1.csv"'
