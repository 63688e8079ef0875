"""The runs of one file keep its order, whatever ids they get in a database."""

from __future__ import annotations

from sqlalchemy.orm import Session

from relevansi import labels
from relevansi.db.tables.study import Study
from relevansi.services.comparisons import chosen_runs, comparisons
from relevansi.services.exports import trees
from relevansi.services.gold import gold
from relevansi.services.programs import rows
from relevansi.services.runs import reports, results, runs, stored_results
from tests.conftest import NOW
from tests.services.runs.runs import card, query, run, store

FOUR = """\
system,query_id,query,doc_id,rank,grade
vector,q1,red dress,d1,1,1
vector,q2,blue shoes,d3,1,1
zeta,q1,red dress,d1,1,1
zeta,q2,blue shoes,d4,1,0
alpha,q1,red dress,d2,1,0
alpha,q2,blue shoes,d4,1,0
api_only,q1,red dress,d2,1,0
api_only,q2,blue shoes,d3,1,1
"""
"""The better system of each pair is the first one, but of the last pair."""
IN_FILE = ["vector", "zeta", "alpha", "api_only"]


def test_four_systems_of_one_file_have_its_order_everywhere(session: Session, study: Study) -> None:
    read = results.read_files("four.csv", [("four.csv", FOUR.encode())])
    stored = stored_results.store(session, study, read, NOW)
    session.commit()
    methods = {run.id: run.search_method for run in stored.runs}

    def methods_of(ids: list[str]) -> list[str | None]:
        return [methods[run_id] for run_id in ids]

    assert methods_of([run.id for run in stored.runs]) == IN_FILE
    assert methods_of([run.id for run in runs.in_order(session, study)]) == IN_FILE
    assert methods_of([row.id for row in rows.run_rows(session, study)]) == IN_FILE
    assert methods_of([*chosen_runs.of_phase(session, study, 1)]) == IN_FILE
    assert [row.search_method for row in gold.sets(session, study)[0].runs] == IN_FILE
    rule = reports.rule_of(session, study)
    compared = comparisons.report(session, study, chosen_runs.of_phase(session, study, 1), rule)
    result = [
        difference for difference in compared.comparison.differences if difference.figure == "P@5"
    ]
    files, _ = trees.tree(session, study, rule, lambda *_: b"<html>")
    (report,) = (data.decode() for name, data in files.items() if "evaluation_report" in name)
    assert (
        sorted(IN_FILE, key=lambda method: report.index(f"Run {labels.method(method)}")) == IN_FILE
    )
    assert [(methods[each.first], methods[each.second], each.mean) for each in result] == [
        ("vector", "zeta", 0.5),
        ("vector", "alpha", 1.0),
        ("vector", "api_only", 0.5),
        ("zeta", "alpha", 0.5),
        ("zeta", "api_only", 0.0),
        ("alpha", "api_only", -0.5),
    ]


def test_files_of_one_import_come_one_after_the_other(session: Session, study: Study) -> None:
    for name in ("c", "a", "d", "b"):
        read = run(query(1, card(name)), method=name, name=f"{name}.json")
        store(session, study, read)
    session.commit()

    assert [run.search_method for run in runs.in_order(session, study)] == ["c", "a", "d", "b"]


def test_a_run_of_a_chatbot_goes_to_the_place_of_its_method(session: Session, study: Study) -> None:
    for method in ("hybrid", "own", "api_only"):
        read = run(query(1, card("a")), method=method, name=f"{method}.json")
        store(session, study, read)

    result = [run.search_method for run in runs.in_order(session, study)]

    assert result == ["api_only", "hybrid", "own"]
