from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Integer
from sqlalchemy.orm import Session

from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.study import Study
from relevansi.exporters.exports.metrics_tables import metrics_json
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.i18n import speaking
from relevansi.metrics.judging.registry import MEASURES
from relevansi.metrics.proof_packs import proof_files
from relevansi.services.exports import exports
from relevansi.services.proof_packs import packs
from relevansi.services.proof_packs.verification import DifferenceKind, PackDifference
from relevansi.services.runs import reports, runs
from relevansi.services.runs.reports import Rule
from relevansi.services.study import studies
from tests.conftest import NOW, copied
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import changed, members, verified, zipped

MAJORITY = Rule("majority")


@pytest.fixture(name="run_ids")
def _run_ids(session: Session, study: Study) -> tuple[str, str]:
    return rated_study(session, study)


@pytest.mark.parametrize("rule", ["adjudicated", "rater Budi, =B"])
def test_a_pack_of_the_study_is_equal_to_what_its_verdicts_make_it(
    session: Session, study: Study, run_ids: tuple[str, str], rule: str
) -> None:
    chosen = reports.rule_of(session, study, rule)
    verification = verified(packs.pack(session, study, None, chosen).data)

    assert verification.equal
    assert set(verification.runs) == set(run_ids)
    assert verification.rule == chosen.name
    assert verification.figures > 500


def test_a_pack_is_the_same_in_every_language(
    session: Session, study: Study, run_ids: tuple[str, str]
) -> None:
    assert run_ids
    data = packs.pack(session, study, None, MAJORITY).data

    with speaking("id"):
        assert data == packs.pack(session, study, None, MAJORITY).data


def test_the_pack_of_one_run_holds_nothing_of_the_other(
    session: Session, study: Study, run_ids: tuple[str, str]
) -> None:
    first, second = run_ids
    data = packs.pack(session, study, second, MAJORITY).data
    files = members(data)

    assert verified(data).equal
    assert [name for name in files if first in name or "comparisons" in name] == []
    items = {row["property"] for row in csv.DictReader(io.StringIO(files["verdicts.csv"].decode()))}
    assert items == {"slug:b", "slug:h", "slug:d", "slug:f"}  # a, c, e were not shown there
    clicked = [event["event_id"] for event in json.loads(files["study/events.json"])]
    assert "e0-1" not in clicked  # on a
    assert {"slip", "undo"} <= set(clicked)  # on b, clicked in the other run


def test_a_pack_holds_the_exports_and_their_provenance(
    session: Session, study: Study, run_ids: tuple[str, str]
) -> None:
    files = members(packs.pack(session, study, None, MAJORITY).data)
    manifest = json.loads(files["manifest.json"])

    last_click = NOW + timedelta(minutes=24)
    assert manifest["created_at"] == last_click.isoformat()
    assert manifest["raters"][1] == "Budi, =B"
    assert {run["run"] for run in manifest["runs"]} == set(run_ids)
    source = runs.find(session, study, run_ids[0]).files[0]
    first_run = next(run for run in manifest["runs"] if run["run"] == run_ids[0])
    assert first_run["input_files"][0]["sha256"] == source.sha256
    assert {definition["name"] for definition in manifest["definitions"]} == set(MEASURES)
    for run_id in run_ids:
        for member, file_format in (("judgments.csv", "long-csv"), ("run.json", "json")):
            exported = exports.export(session, study, run_id, MAJORITY, file_format)
            assert files[f"runs/{run_id}/{member}"] == exported.data
        figures = json.loads(files[f"runs/{run_id}/figures.json"])
        owner = studies.raters(session, study)[0].name
        rules = [f"rater {owner}", "rater Budi, =B", "majority", "adjudicated"]
        assert list(figures) == rules
        report = reports.report(session, study, run_id, MAJORITY)
        assert figures["majority"] == json.loads(json.dumps(metrics_json(report)))
        # Who has still to judge what does not follow from verdicts.
        assert "state" not in figures["majority"]


def test_the_secret_is_not_packed(session: Session, study: Study, run_ids: tuple[str, str]) -> None:
    """With the secret every blind answer would name its run."""
    assert run_ids
    study.guidelines, study.starter_guidelines = "Relevan bila dekat.", False
    packed = members(packs.pack(session, study, None, MAJORITY).data)
    manifest = json.loads(packed["manifest.json"])

    (commitment,) = manifest["commitments"]
    assert commitment["sha256"] == sha256(study.order_secret.encode()).hexdigest()
    assert commitment["what"] == "what blind raters see, in which order"
    for data in packed.values():
        assert study.order_secret.encode() not in data
    assert packed["guidelines.md"] == b"Relevan bila dekat."
    assert '"Budi, =B"' in packed["README.md"].decode()


def test_a_deleted_run_is_logged(session: Session, study: Study, run_ids: tuple[str, str]) -> None:
    runs.delete_run(session, study, run_ids[0], NOW)
    data = packs.pack(session, study, None, MAJORITY).data
    events = json.loads(members(data)["study/events.json"])

    assert verified(data).equal
    assert any(event["query_key"] is None for event in events)


@pytest.fixture(name="database")
def _database(tmp_path: Path, sqlite_template: Path) -> Database:
    database = Database(sqlite_url(tmp_path / "study.sqlite"))
    copied(sqlite_template, database)
    return database


def run_readme(folder: Path, data: bytes) -> subprocess.CompletedProcess[str]:
    """Unpack a pack and run the script that its README holds."""
    for name, content in members(data).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    script = re.search(r"```python\n(.*?)```", members(data)["README.md"].decode(), re.DOTALL)
    assert script is not None
    return subprocess.run(
        [sys.executable, "-c", script[1]],
        cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip


def by_command(folder: Path, run: str) -> dict[tuple[str, str], float]:
    """The output of the README's command for a run: the value of each question and measure."""
    arguments = f"runs/{run}/qrels.txt", f"runs/{run}/run.txt", "RR P@5"
    process = subprocess.run(
        [sys.executable, "-m", "ir_measures", "--by_query", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", check=True, timeout=120,
    )  # fmt: skip
    cells = (line.split("\t") for line in process.stdout.splitlines())
    return {(query, measure): float(value) for query, measure, value in cells}


def test_ir_measures_agrees_with_cannot_tell(tmp_path: Path, database: Database) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, _ = rated_study(session, study)
        owner = studies.raters(session, study)[0]
        data = packs.pack(session, study, first, reports.of_rater(owner)).data
    folder = tmp_path / "pack"
    process = run_readme(folder, data)
    database.close()
    assert process.returncode == 0, process.stderr

    # Query 1 (no, yes, cannot tell) and 2 (yes, no, the first again): RR alone. Query 6: both.
    assert process.stdout.split(" ", 1)[1].strip() == "equal: {'RR': 3, 'P@5': 1}"
    if sys.version_info >= (3, 14):
        pytest.skip("the command of ir-measures 0.4.3 needs Python 3.13 or older")
    result = by_command(folder, first)
    assert result["1", "RR"] == 0.5
    assert result["2", "RR"] == 1
    assert result["6", "P@5"] * 5 / 1 == 1


def test_the_script_notices_a_pack_that_does_not_follow(tmp_path: Path, database: Database) -> None:
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, _ = rated_study(session, study)
        data = packs.pack(session, study, first, Rule("adjudicated")).data
    database.close()
    flip = changed(
        data,
        f"runs/{first}/qrels.txt",
        lambda qrels: qrels.replace(b"2 0 slug:d/1 1", b"2 0 slug:d/1 0"),
    )
    process = run_readme(tmp_path / "pack", flip)

    assert process.returncode != 0
    assert "AssertionError" in process.stderr


Change = Callable[[bytes], bytes]
OTHERS = {
    "1": ["0", "unsure"], "0": ["1", "unsure"], "unsure": ["1", "0"],
    "correct_empty": ["false_negative"], "false_negative": ["correct_empty"],
}  # fmt: skip
FEW = settings(max_examples=settings().max_examples // 8)  # each takes seconds


@pytest.fixture(name="packed", scope="module")
def _packed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> tuple[bytes, str]:
    """A pack of a study under the majority, and the id of its fuller run."""
    database = Database(sqlite_url(tmp_path_factory.mktemp("packed") / "study.sqlite"))
    copied(sqlite_template, database)
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        # Else "cannot tell" and not relevant make the same figures.
        study.cannot_tell = "left_out"
        first, _ = rated_study(session, study)
        data = packs.pack(session, study, None, Rule("majority")).data
    database.close()
    return data, first


def replaced(old: bytes, new: bytes) -> Change:
    return lambda data: data.replace(old, new, 1)


def row(find: dict[str, Any], **values: Any) -> Change:
    """Change the first row that has the values of `find`."""

    def change(data: bytes) -> bytes:
        rows = json.loads(data)
        next(entry for entry in rows if find.items() <= entry.items()).update(values)
        return json.dumps(rows).encode()

    return change


def kinds(differences: list[PackDifference], file: str) -> set[DifferenceKind]:
    return {difference.kind for difference in differences if difference.file == file}


def headline(differences: list[PackDifference], run: str) -> set[tuple[str, str]]:
    """The rule and name of each headline figure whose value the rows make another."""
    return {
        (difference.place[0], difference.place[2])
        for difference in differences
        if difference.file == f"runs/{run}/figures.json"
        and difference.place[1] == "figures"
        and difference.place[3] == "value"
    }


D_OF_OWNER = b"Pemilik,1,2,,slug:d,1,1,,"


def test_a_flipped_verdict_names_its_line(packed: tuple[bytes, str]) -> None:
    data, _ = packed
    flip = replaced(D_OF_OWNER, D_OF_OWNER[:-3] + b"0,,")
    differences = verified(changed(data, "verdicts.csv", flip)).differences

    (line,) = differences
    number = members(data)["verdicts.csv"].decode().splitlines().index(D_OF_OWNER.decode()) + 1
    assert line == PackDifference(
        DifferenceKind.CELL, "verdicts.csv", (f"line {number}",), "Pemilik,1,2,,slug:d,1,0,,",
        "Pemilik,1,2,,slug:d,1,1,,", "study/*.json",
    )  # fmt: skip


def test_a_flipped_row_moves_every_file_that_rests_on_it(packed: tuple[bytes, str]) -> None:
    data, run = packed
    tables = ("properties", "judged_things")
    items, judged_items = (json.loads(members(data)[f"study/{name}.json"]) for name in tables)
    (listed,) = [item["id"] for item in items if item["identity"] == "slug:d"]
    (d,) = [
        item["id"]
        for item in judged_items
        if (item["question_id"], item["property_id"]) == (2, listed)
    ]
    verdict_of_d = {"rater_id": 1, "judged_thing_id": d, "verdict": "1"}
    differences = verified(
        changed(data, "study/judgments.json", row(verdict_of_d, verdict="0"))
    ).differences
    # Query 2 shows d, e, d: 2 of 3 relevant become 0 of 3, so every judged figure moves.
    moved = headline(differences, run)
    assert {
        ("majority", "mean_precision_at_5"), ("majority", "mrr"), ("majority", "success_rate"),
        ("rater Pemilik", "mean_precision_at_5"), ("adjudicated", "composite"),
    } <= moved  # fmt: skip
    assert not any(rule == "rater Budi, =B" for rule, _ in moved)
    for member in ("rated.csv", "raters.csv", "judgments.csv", "qrels.txt", "run.json"):
        assert kinds(differences, f"runs/{run}/{member}") == {DifferenceKind.CELL}, member
    assert kinds(differences, "comparisons/1.json") == {DifferenceKind.FIGURE}
    assert kinds(differences, f"runs/{run}/run.txt") == set()


def test_each_changed_member_is_named_beside_the_others(packed: tuple[bytes, str]) -> None:
    """Each is compared with a fresh export of the rows, which say that d is relevant."""
    data, run = packed
    line = b"2 0 slug:d/1 1"
    changes = {
        f"runs/{run}/judgments.csv": replaced(b",2,1,slug:d,1,D,1", b",2,1,slug:d,1,D,0"),
        f"runs/{run}/qrels.txt": replaced(line + b"\n", b""),
        f"runs/{run}/run.json": replaced(b'"relevance": 1', b'"relevance": 0'),
        f"runs/{run}/figures.json": replaced(b'"value": 0.', b'"value": 0.1'),
        f"runs/{run}/rated.csv": lambda rated: rated + rated.splitlines(True)[-1],
        f"runs/{run}/run.txt": replaced(b" 1 3 ", b" 1 4 "),
        "verdicts.csv": replaced(b",slug:a,", b",slug:h,"),
        "comparisons/1.json": lambda _: b"[]",
    }
    for name, change in changes.items():
        data = changed(data, name, change)
    differences = verified(data).differences
    first = {difference.file: difference for difference in reversed(differences)}

    figures = {f"runs/{run}/figures.json", "comparisons/1.json"}
    assert {name: difference.kind for name, difference in first.items()} == {
        name: DifferenceKind.FIGURE if name in figures else DifferenceKind.CELL for name in changes
    }
    assert first[f"runs/{run}/run.json"].place[-1] == "relevance"
    assert line.decode() in str(first[f"runs/{run}/qrels.txt"].computed)


@pytest.mark.parametrize(
    ("name", "change", "kind"),
    [
        ("study/judgments.json", row({}, rater_id="1"), DifferenceKind.UNREADABLE),
        ("study/judgments.json", row({}, other=1), DifferenceKind.UNREADABLE),
        ("study/judgments.json", lambda _: b"[[]]", DifferenceKind.UNREADABLE),
        ("study/query_ratings.json", row({"quality": 3}, quality=5), None),
        ("study/questions.json", row({}, position=10**400), DifferenceKind.UNREADABLE),
        ("study/questions.json", row({}, text="\ud800"), DifferenceKind.UNREADABLE),
        ("study/studies.json", lambda _: b"[]", DifferenceKind.UNREADABLE),
        ("study/studies.json", row({}, cannot_tell="not_relevant"), None),
        ("comparisons/1.json", lambda _: b"?", DifferenceKind.UNREADABLE),
        ("manifest.json", replaced(b'"rule": "majority"', b'"rule": "adjudicated"'), None),
    ],
)
def test_any_other_change_is_named_by_the_member_or_by_what_rests_on_it(
    packed: tuple[bytes, str], name: str, change: Change, kind: DifferenceKind | None
) -> None:
    differences = verified(changed(packed[0], name, change)).differences

    assert differences
    if kind is not None:
        assert kind in kinds(differences, name)


def test_every_leaf_of_every_document_counts(packed: tuple[bytes, str]) -> None:
    """Each value is another one, all at once: each place is named."""
    data, run = packed
    names = ["manifest.json", "comparisons/1.json", "planning/figures.json", "questions/1.json"]
    names += [f"runs/{run}/{member}" for member in ("run.json", "figures.json")]
    files = members(data)
    places = {name: [*_leaves(json.loads(files[name]))] for name in names}
    skipped = {
        *("format", "pack_version", "product", "database_version", "created_at", "created_at_is"),
        *("scope", "rule", "commitments", "definitions", "files"),
    }
    for name in names:
        document = json.loads(files[name])
        for path in places[name]:
            if name != "manifest.json" or path[0] not in skipped:
                _set(document, path, "\N{HANGUL SYLLABLE GA}")
        files[name] = json.dumps(document).encode()
    verification = verified(zipped(files))

    assert verification.left_out == 0
    for name in names:
        changed_leaves = [
            difference
            for difference in verification.differences
            if difference.file == name and difference.kind != "hash"
        ]
        expected = [p for p in places[name] if name != "manifest.json" or p[0] not in skipped]
        assert len(changed_leaves) == len(expected) > 20, name


def test_missing_and_unlisted_members_are_named_once(packed: tuple[bytes, str]) -> None:
    data, run = packed
    names = {
        *(f"runs/{run}/rated.csv", "verdicts.csv", "README.md", "comparisons/1.json"),
        *("study/queries.json", "planning/figures.json"),
    }
    files = {name: data for name, data in members(data).items() if name not in names}
    differences = verified(zipped({**files, "extra.txt": b"?"})).differences

    assert sorted(
        difference.file for difference in differences if difference.kind is DifferenceKind.MISSING
    ) == sorted(names)
    assert [
        difference.file for difference in differences if difference.kind is DifferenceKind.UNLISTED
    ] == ["extra.txt"]


def test_what_an_earlier_pack_lacks_means_its_default(packed: tuple[bytes, str]) -> None:
    def without(raters_json: bytes) -> bytes:
        rows = json.loads(raters_json)
        for rater in rows:
            del rater["removed_at"], rater["is_machine"]
        return json.dumps(rows).encode()

    def unsaid(run_json: bytes) -> bytes:
        document = json.loads(run_json)
        for query in document["queries"]:
            if not query["question_note"]:
                del query["question_note"]
        return json.dumps(document).encode()

    data, run = packed
    older = changed(data, "study/raters.json", without)
    assert verified(changed(older, f"runs/{run}/run.json", unsaid)).equal


@FEW
@given(st.data(), st.booleans())
def test_any_flipped_verdict_is_named_by_its_line(
    packed: tuple[bytes, str], draw: st.DataObject, mend_hash: bool
) -> None:
    """By its line, whether its hash was mended or not."""
    data, _ = packed
    rows = list(csv.reader(io.StringIO(members(data)["verdicts.csv"].decode())))
    number, column = draw.draw(st.integers(1, len(rows) - 1)), rows[0].index("verdict")
    rows[number][column] = draw.draw(st.sampled_from(OTHERS[rows[number][column]]))
    flipped = csv_bytes(rows)
    differences = verified(
        changed(data, "verdicts.csv", lambda _: flipped, mend_hash=mend_hash)
    ).differences

    (cell,) = [difference for difference in differences if difference.kind is DifferenceKind.CELL]
    assert cell.place == (f"line {number + 1}",)
    assert (DifferenceKind.HASH in {difference.kind for difference in differences}) != mend_hash


RULE_FIELDS = {
    *("studies.figures", "studies.kind", "studies.merging", "studies.cannot_tell"),
    *("events.field", "events.cause", "judgments.verdict", "adjudications.verdict"),
    *("queries.state", "query_ratings.quality"),
}
"""The columns that have one of a few values, in packs."""


def test_no_row_names_another_that_is_not_there_or_a_value_that_is_none(
    packed: tuple[bytes, str],
) -> None:
    """Every reference and every column of a few values, changed in its first row that is shown."""
    data, _ = packed
    files = members(data)
    for table in packs.PACKED:
        name = proof_files.of_table(table.__tablename__)
        rows = json.loads(files[name])
        if not rows:
            continue
        columns = table.__table__.columns
        references = {
            column.name: 10**6 if isinstance(column.type, Integer) else "x"
            for column in columns
            if any(key.column.table.name in packs.NAMES for key in column.foreign_keys)
        }
        few = {
            column.name: "x"
            for column in columns
            if f"{table.__tablename__}.{column.name}" in RULE_FIELDS
        }
        for column, value in (references | few).items():
            (packed_column,) = proof_files.to_pack({column: None})
            first = next((line for line in rows if line[packed_column] is not None), rows[0])
            change = row(first, **{packed_column: value})
            (difference,) = verified(changed(data, name, change)).differences
            assert (difference.kind, difference.file) == (DifferenceKind.UNREADABLE, name), column
            assert str(difference.packed).startswith(f"{rows.index(first) + 1}: "), (name, column)


def test_packs_state_no_number_that_nothing_refers_to(packed: tuple[bytes, str]) -> None:
    """Else it could be another one, and nobody would notice."""
    files = members(packed[0])
    for table in ("results", "run_files"):
        assert "id" not in json.loads(files[f"study/{table}.json"])[0]


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, (*path, number))
    else:
        yield path


def _set(document: Any, path: tuple[Any, ...], value: object) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


def test_a_lack_of_memory_is_not_taken_for_rows_that_cannot_be_read(
    session: Session, study: Study, run_ids: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = packs.pack(session, study, run_ids[0], MAJORITY).data
    monkeypatch.setattr(packs, "members", mock.Mock(side_effect=MemoryError))

    with pytest.raises(MemoryError):
        verified(data)
