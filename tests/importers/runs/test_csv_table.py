"""CSV files as people have them: any separator, and each bad line told alone."""

from __future__ import annotations

import pytest

from tests.importers.runs.rated_csv import HEADER, SEED_SAMPLE, one, read_text
from webapp.importers.runs.csv_ratings import read


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_delimiter_byte_order_mark_and_line_ends_make_no_difference(
    mark: str, ends: str, delimiter: str
) -> None:
    text = mark + SEED_SAMPLE.replace(",", delimiter).replace("\n", ends)

    assert read_text(text) == read_text(SEED_SAMPLE)


def test_columns_go_by_their_names_in_any_order_and_letter_case() -> None:
    text = "Notes,first_relevant_rank,RELEVANT_COUNT, results_count ,query_id\nmahal,2,1,3,9\n"

    (row,) = read_text(text).report.rows

    assert (row.query_id, row.notes, row.question) == (9, "mahal", "")
    assert row.summary.precision_at_5.value == pytest.approx(1 / 3)


def test_formulas_come_back_as_they_were_written() -> None:
    assert one("1,1,1,,,,,,'=1+1")[0].notes == "=1+1"
    assert one("1,1,1,,,,,,'biasa")[0].notes == "'biasa"


def test_an_open_quotation_mark_costs_its_own_line_only() -> None:
    text = HEADER + '1,"q,c,5,4,1,,,,,,\n2,q,c,5,4,1,0.8,0.8,1,1,4,\n3,q,c,5,5,1,1,1,1,1,5,\n'

    found = read_text(text)

    assert [row.query_id for row in found.report.rows] == [2, 3]
    assert [(p.line, p.code) for p in found.problems] == [(2, "csv_broken_record")]


def test_a_line_with_too_many_cells_says_so() -> None:
    found = read_text(HEADER + "1,rumah, murah,c,5,4,1,0.8,0.8,1,1,4,\n")

    (problem,) = found.problems
    assert (problem.code, problem.details) == ("csv_cell_count", {"cells": 13, "columns": 12})


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", '{"results": []}', '"'])
def test_another_file_is_told_by_its_missing_columns(text: str) -> None:
    found = read_text(text)

    assert found.report.rows == ()
    assert [p.code for p in found.problems] == ["csv_columns_missing"]


def test_an_endless_first_line_is_no_header_and_is_not_taken_apart() -> None:
    (problem,) = read("rated.csv", b"query_id" + b"," * 100_000 + b"\n1,2\n").problems

    assert problem.code == "csv_columns_missing"
    assert str(problem.details["columns"]).startswith("query_id, ")


def test_bytes_that_are_no_utf_8_are_told_with_their_line() -> None:
    found = read("rated.csv", HEADER.encode() + "1,café,c,5,5,1,,,,,,\n".encode("cp1252"))

    (problem,) = found.problems
    assert (problem.code, problem.line, problem.file) == ("csv_not_utf8", 2, "rated.csv")
