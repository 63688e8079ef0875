"""Evidence in the files of a run, in figures that other tools make of them, and in proof packs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import ir_measures
import pytest
from ir_measures import R
from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.exports.metrics_tables import metrics_csv, metrics_json, metrics_markdown
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.i18n import speaking
from relevansi.services.exports import exports
from relevansi.services.judging import judgments
from relevansi.services.proof_packs import packs
from relevansi.services.runs import reports
from tests.services.catalogue.conftest import LookedUp
from tests.services.catalogue.pinned import pin, question_of
from tests.services.proof_packs.packs import changed, members, verified, without
from tests.services.runs.runs import NO, card, click


def exported(session: Session, study: Study, rater: Rater, run_id: str, file_format: str) -> str:
    rule = reports.of_rater(rater)
    return exports.export(session, study, run_id, rule, file_format).data.decode()


def test_the_long_csv_has_a_row_for_each_empty_list_with_its_evidence(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    text = exported(session, study, rater, looked_up.run_id, "long-csv")

    rows = list(csv.DictReader(io.StringIO(text)))
    cells = ("query_id", "rank", "property", "relevance", "evidence")
    assert [tuple(row[name] for name in cells) for row in rows] == [
        ("1", "1", "slug:a", "1", ""),
        ("2", "", "", "correct_empty", ""),
        ("3", "", "", "correct_empty", ""),
        ("4", "", "", "false_negative", "slug:x; slug:y"),
        ("5", "", "", "false_negative", ""),
    ]


def test_json_has_the_ids_and_counts(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    document = json.loads(exported(session, study, rater, looked_up.run_id, "json"))
    looked = [(query.get("searches"), query.get("evidence")) for query in document["queries"]]
    # No outcome of question 1, which has results.
    assert looked == [(None, None), (2, []), (0, []), (0, ["slug:x", "slug:y"]), (0, [])]

    rule = reports.of_rater(rater)
    report = reports.report(session, study, looked_up.run_id, rule)
    figures: Any = metrics_json(report)
    checked = {"value": 0.5, "lower": None, "upper": None, "n": 2}
    assert figures["figures"]["empty_answers_checked"] == checked
    assert figures["categories"]["y"]["empty_answers_checked"] == checked | {"value": None, "n": 0}
    assert figures["empty_answers"] == {
        "correct_empty": 2,
        "checked": 1,
        "searches": 2,
        "false_negatives": 2,
        "with_evidence": 1,
        "evidence": 2,
        "checked_share": 0.5,
    }
    lines = metrics_csv(report).decode().splitlines()
    assert ",empty_answers_checked,0.5,,,2" in lines
    assert "y,empty_answers_checked,,,,0" in lines
    with speaking("en"):
        assert "Correct empty: 2, of these 1 after looking (2 searches)." in metrics_markdown(
            report
        )


def recall(qrels: str, ranked: str) -> dict[str, float]:
    measured: Iterator[Any] = ir_measures.iter_calc(
        [R @ 5],
        list(ir_measures.read_trec_qrels(qrels)),  # type: ignore[no-untyped-call]
        list(ir_measures.read_trec_run(ranked)),  # type: ignore[no-untyped-call]
    )
    return {measure.query_id: measure.value for measure in measured}


def test_what_is_pinned_lowers_the_recall_that_other_tools_find(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    """Question 1 lists its one relevant item; what is pinned beside it is a second one."""
    run_id = looked_up.run_id
    ranked = exported(session, study, rater, run_id, "run")
    before = exported(session, study, rater, run_id, "qrels")
    assert before.splitlines() == ["1 0 slug:a/1 1", "4 0 slug:x/1 1", "4 0 slug:y/1 1"]
    assert recall(before, ranked) == {"1": 1.0, "4": 0.0}

    pin(session, rater, question_of(session, run_id, 1), card("z"))

    after = exported(session, study, rater, run_id, "qrels")
    assert recall(after, ranked) == pytest.approx({"1": 0.5, "4": 0.0})
    assert exported(session, study, rater, run_id, "run") == ranked


def packed(session: Session, study: Study, rater: Rater, run_id: str | None) -> bytes:
    return packs.pack(session, study, run_id, reports.of_rater(rater)).data


def test_a_pack_has_searches_and_evidence_and_verifies(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    judgments.judge(session, rater, looked_up.run_id, 1, 1, NO, click("n", minute=4))
    judgments.give_reason(session, rater, looked_up.run_id, 1, 1, "price", click("r", minute=5))
    data = packed(session, study, rater, None)

    assert verified(data).equal
    searches = json.loads(members(data)["study/searches.json"])
    assert [search["words"] for search in searches] == ["rumah depok"] * 4
    rows = csv.DictReader(io.StringIO(members(data)["verdicts.csv"].decode()))
    of_items = {row["property"]: (row["reason"], row["evidence"]) for row in rows}
    evidence = {"slug:x": ("", "1"), "slug:y": ("", "1")}
    assert of_items == {"": ("", ""), "slug:a": ("price", "")} | evidence


def test_evidence_that_was_taken_out_of_a_pack_is_found(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    def unpinned(data: bytes) -> bytes:
        rows = json.loads(data)
        for row in rows:
            row["is_evidence"] = False
        return json.dumps(rows).encode()

    data = packed(session, study, rater, looked_up.run_id)
    verification = verified(changed(data, "study/judgments.json", unpinned))

    places = {difference.place[-1]: difference for difference in verification.differences}
    assert (places["with_evidence"].packed, places["with_evidence"].computed) == (1, 0)


def test_a_pack_of_a_version_without_searches_is_equal_to_its_rows(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    since = {"empty_answers", "empty_answers_checked", "searches", "evidence"}

    def as_was(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: as_was(inner) for key, inner in value.items() if key not in since}
        return [*map(as_was, value)] if isinstance(value, list) else value

    def document(data: bytes) -> bytes:
        return json.dumps(as_was(json.loads(data))).encode()

    def of_results(data: bytes) -> bytes:
        head, *rows = csv.reader(io.StringIO(data.decode()))
        places = [n for n, name in enumerate(head) if name not in {"evidence", "reason"}]
        listed = [head, *(row for row in rows if "rank" not in head or row[head.index("rank")])]
        return csv_bytes([row[place] for place in places] for row in listed)

    data = without(packed(session, study, rater, looked_up.run_id), "study/searches.json")
    folder = f"runs/{looked_up.run_id}"
    for name in (f"{folder}/run.json", f"{folder}/figures.json"):
        data = changed(data, name, document)
    data = changed(data, f"{folder}/judgments.csv", of_results)
    data = changed(data, "verdicts.csv", of_results)

    assert verified(data).equal
    spoiled = changed(data, f"{folder}/judgments.csv", lambda text: text.replace(b",1,", b",0,"))
    assert not verified(spoiled).equal
