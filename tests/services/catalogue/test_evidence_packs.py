"""Searches and evidence in a proof pack, and packs of versions that had neither."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from sqlalchemy.orm import Session

from relevansi.db.tables.people import Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.services.judging import judgments
from relevansi.services.proof_packs import packs
from relevansi.services.runs import reports
from tests.services.catalogue.conftest import LookedUp
from tests.services.proof_packs.packs import changed, members, verified, without
from tests.services.runs.runs import NO, click


def packed(session: Session, study: Study, rater: Rater, run_id: str | None) -> bytes:
    return packs.pack(session, study, run_id, reports.of_rater(rater)).data


def test_a_pack_has_searches_and_evidence_and_verifies(
    session: Session, study: Study, rater: Rater, looked_up: LookedUp
) -> None:
    judgments.judge(session, rater, looked_up.run_id, 1, 1, NO, click("n", minute=4))
    judgments.give_reason(session, rater, looked_up.run_id, 1, 1, "price", click("r", minute=5))
    for run_id in (None, looked_up.run_id):
        data = packed(session, study, rater, run_id)

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
