"""The study's settings are shown and changed from the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from relevansi.db.tables.people import LogEntry
from tests.cli.relevansi import document, relevansi
from tests.stored_studies import study_in


def test_cannot_tell_is_set_and_shown(tmp_path: Path) -> None:
    assert document(relevansi(tmp_path, "study", "--json"))["cannot_tell"] == "not_relevant"

    process = relevansi(tmp_path, "study", "--cannot-tell", "left-out")

    assert process.returncode == 0, process.stderr
    assert "left out" in process.stdout
    assert "left_out" in relevansi(tmp_path, "study").stdout
    with study_in(tmp_path) as (session, study):
        assert study.cannot_tell == "left_out"
        assert "set cannot_tell" in session.scalars(select(LogEntry.action)).all()


def test_any_other_way_to_count_is_refused(tmp_path: Path) -> None:
    process = relevansi(tmp_path, "study", "--cannot-tell", "maybe")

    assert process.returncode == 2
    assert "left-out" in process.stderr


def test_the_scale_and_the_figures_are_set(tmp_path: Path) -> None:
    words = "off topic, touches it, answers"
    process = relevansi(
        tmp_path, "study", "--scale", "0-2", "--relevant-from", "2", "--grade-words", words
    )
    assert process.returncode == 0, process.stderr
    assert "2 answers" in process.stdout
    process = relevansi(
        tmp_path, "study", "--headline", "ndcg@10, MRR", "--merging", "majority", "--no-quality"
    )
    assert "nDCG@10, mrr" in process.stdout

    printed = document(relevansi(tmp_path, "study", "--no-marks", "--json"))

    split = [word.strip() for word in words.split(",")]
    assert printed["scale"] == {"top": 2, "from": 2, "words": split, "guidance": []}
    assert printed["measures"] == ["nDCG@10", "mrr"]
    assert (printed["merging"], printed["asks_quality"], printed["marks_words"]) == (
        *("majority", False, False),
    )
    options = ("--scale", "binary", "--headline", "usual", "--merging", "usual", "--quality")
    usual = document(relevansi(tmp_path, "study", *options, "--json"))
    assert usual["scale"] == {"top": 1, "from": 1, "words": [], "guidance": []}
    assert (usual["merging"], usual["asks_quality"]) == (None, True)
    assert "composite" in usual["measures"]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (["--scale", "0-9"], "--scale"),
        (["--scale", "0-2", "--relevant-from", "3"], "--relevant-from"),
        (["--relevant-from", "2"], "--relevant-from"),
        (["--scale", "0-2", "--grade-words", "no, yes"], "--grade-words"),
        (["--headline", "P@5, best"], "--headline"),
    ],
)
def test_what_cannot_be_is_refused_by_the_name_of_its_option(
    tmp_path: Path, options: list[str], option: str
) -> None:
    process = relevansi(tmp_path, "study", *options)

    assert process.returncode == 2
    assert option in process.stderr
    assert document(relevansi(tmp_path, "study", "--json"))["scale"]["top"] == 1
