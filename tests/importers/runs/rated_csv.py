"""Rated CSVs of one line, and what is read of them."""

from __future__ import annotations

from webapp.importers.runs.csv_ratings import RatedFile, read
from webapp.metrics.judging.figures import QueryRow
from webapp.records import Problem, Severity

HEADER = (
    "query_id,question,category,results_count,relevant_count,first_relevant_rank,"
    "overall_precision,precision_at_5,mrr,success,response_quality,notes\n"
)
ORIGINAL_HEADER = HEADER.replace("relevant_count,", "relevant_count,relevant_in_top5,")

SEED_SAMPLE = HEADER + (
    "1,Carikan rumah dijual di daerah cemara,location_simple,5,4,1,0.80,0.80,1.00,1,4,\n"
    "2,Carikan rumah dijual di daerah ringroad,location_simple,5,5,1,1.00,1.00,1.00,1,5,\n"
    "3,apakah ada gudang di KIM?,property_type,0,0,,,,0,1,0,no data exists\n"
    "4,cari rumah di cemara,location_simple,0,0,,,,0,0,0,should have results\n"
    "5,cari rumah harga 1M di cemara,location_price,5,3,2,0.60,0.60,0.50,1,3,\n"
)


def read_text(text: str) -> RatedFile:
    """Return the ratings that are read from a file with this text."""
    return read("rated.csv", text.encode())


def one(cells: str, header: str = HEADER) -> tuple[QueryRow, tuple[Problem, ...]]:
    """The only row of a file whose line has `cells` from results_count on, and its problems."""
    found = read_text(f"{header}7,cari rumah,location,{cells}\n")
    (row,) = found.report.rows
    return row, found.problems


def only_problem(cells: str, header: str = HEADER) -> Problem:
    """The problem of a file whose only line is wrong and therefore left out."""
    found = read_text(f"{header}7,cari rumah,location,{cells}\n")
    assert found.report.rows == ()
    (problem,) = found.problems
    assert (problem.line, problem.query_id, problem.severity) == (2, 7, Severity.ERROR)
    return problem


def warning(cells: str, header: str = HEADER) -> Problem:
    """The only problem of a file whose only line is kept all the same."""
    _, (problem,) = one(cells, header)
    assert (problem.line, problem.query_id, problem.severity) == (2, 7, Severity.WARNING)
    return problem
