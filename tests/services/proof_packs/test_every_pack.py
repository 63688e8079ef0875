"""Any one verdict flipped anywhere in a proof pack is noticed, with its figures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import NOW, copied
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import changed, members, verified
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.exporters.frame.csv_cells import csv_bytes
from webapp.metrics.comparisons.significance import Resampling
from webapp.services.proof_packs import packs
from webapp.services.proof_packs.differences import DifferenceKind
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

OTHERS = {
    "1": ["0", "unsure"], "0": ["1", "unsure"], "unsure": ["1", "0"],
    "correct_empty": ["false_negative"], "false_negative": ["correct_empty"],
}  # fmt: skip


@pytest.fixture(name="packed", scope="module")
def _packed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> tuple[bytes, str]:
    database = Database(sqlite_url(tmp_path_factory.mktemp("packed") / "study.sqlite"))
    copied(sqlite_template, database)
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        # Else "cannot tell" and not relevant make the same figures.
        study.cannot_tell = "left_out"
        first, _ = rated_study(session, study)
        few = Resampling(resamples=50)
        data = packs.of_study(session, study, Rule("adjudicated"), settings=few).data
    database.close()
    return data, first


FEW = settings(max_examples=settings().max_examples // 4)  # each takes seconds


@FEW
@given(st.data(), st.booleans())
def test_a_rater_s_verdict_flipped_moves_a_figure_of_that_rater(
    packed: tuple[bytes, str], draw: st.DataObject, mend_hash: bool
) -> None:
    """Every verdict moves at least a bound or a question's figure under the rater's own rule."""
    data, _ = packed
    rows = list(csv.reader(io.StringIO(members(data)["verdicts.csv"].decode())))
    number = draw.draw(st.integers(1, len(rows) - 1))
    rater, before = rows[number][5], rows[number][6]
    rows[number][6] = draw.draw(st.sampled_from(OTHERS[before]))
    flipped = csv_bytes(rows)
    found = verified(
        changed(data, "verdicts.csv", lambda _: flipped, mend_hash=mend_hash)
    ).differences

    told = [one for one in found if one.kind is DifferenceKind.VERDICT]
    assert [(one.stated, one.computed) for one in told] == [(rows[number][6], before)]
    moved = {one.place[0] for one in found if one.file.endswith("figures.json")}
    assert f"rater {rater}" in moved
    assert (DifferenceKind.HASH in {one.kind for one in found}) != mend_hash


@FEW
@given(st.data(), st.sampled_from(["judgments.csv", "qrels.txt", "run.json"]))
def test_a_merged_verdict_flipped_in_one_member_is_told_with_the_figures_it_would_make(
    packed: tuple[bytes, str], draw: st.DataObject, member: str
) -> None:
    data, run = packed
    name = f"runs/{run}/{member}"
    flipped = _flipped(member, members(data)[name], draw)
    found = verified(changed(data, name, lambda _: flipped)).differences

    assert [one.kind for one in found if one.file == name] == [DifferenceKind.CELL]
    figures = [one for one in found if one.kind is DifferenceKind.FIGURE]
    assert figures
    assert {one.source for one in figures} == {name}
    assert {one.place[0] for one in figures} == {"adjudicated"}


def _flipped(member: str, before: bytes, draw: st.DataObject) -> bytes:
    if member == "qrels.txt":
        lines = before.decode().splitlines()
        number = draw.draw(st.integers(0, len(lines) - 1))
        lines[number] = lines[number][:-1] + ("1" if lines[number][-1] == "0" else "0")
        return "".join(f"{line}\n" for line in lines).encode()
    if member == "judgments.csv":
        rows = list(csv.reader(io.StringIO(before.decode())))
        number = draw.draw(st.sampled_from([n for n, row in enumerate(rows) if row[7] in OTHERS]))
        rows[number][7] = draw.draw(st.sampled_from(OTHERS[rows[number][7]]))
        return csv_bytes(rows)
    document = json.loads(before)
    judged = [r for q in document["queries"] for r in q["results"] if r["relevance"] is not None]
    result = draw.draw(st.sampled_from(judged))
    result["relevance"] = draw.draw(
        st.sampled_from([v for v in (1, 0) if v != result["relevance"]])
    )
    return json.dumps(document).encode()
