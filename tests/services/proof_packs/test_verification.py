"""After any change to a proof pack, verifying names the members and figures that disagree."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from hashlib import sha256
from itertools import cycle, islice, zip_longest
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NOW, copied
from tests.services.judging.rated_studies import rated_study
from tests.services.proof_packs.packs import changed, members, verified, zipped
from webapp.config import sqlite_url
from webapp.db.engine import Database
from webapp.metrics.comparisons.significance import Resampling
from webapp.services.proof_packs import packs
from webapp.services.proof_packs.differences import DifferenceKind, PackDifference
from webapp.services.runs.reports import Rule
from webapp.services.study import studies

Change = Callable[[bytes], bytes]


@pytest.fixture(name="packed", scope="module")
def _packed(packs_of: tuple[bytes, bytes, str]) -> tuple[bytes, str]:
    """A pack of a study under the majority, and the id of its fuller run."""
    return packs_of[0], packs_of[2]


@pytest.fixture(name="packed_run", scope="module")
def _packed_run(packs_of: tuple[bytes, bytes, str]) -> tuple[bytes, str]:
    """The pack of that run alone, and its id."""
    return packs_of[1], packs_of[2]


@pytest.fixture(name="packs_of", scope="module")
def _packs_of(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path
) -> tuple[bytes, bytes, str]:
    database = Database(sqlite_url(tmp_path_factory.mktemp("packed") / "study.sqlite"))
    copied(sqlite_template, database)
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        first, _ = rated_study(session, study)
        few = Resampling(resamples=50)
        whole = packs.of_study(session, study, Rule("majority"), settings=few).data
        alone = packs.of_run(session, study, first, Rule("majority")).data
    database.close()
    return whole, alone, first


def replaced(old: bytes, new: bytes) -> Change:
    return lambda data: data.replace(old, new, 1)


def at(run_json: bytes) -> int:
    """Where query 2 begins."""
    return run_json.index(b'"query_id": 2')


def kinds(found: tuple[PackDifference, ...], file: str) -> set[DifferenceKind]:
    return {one.kind for one in found if one.file == file}


def headline(found: tuple[PackDifference, ...], run: str, source: str) -> set[tuple[str, str]]:
    """The rule and name of each headline figure whose value `source` makes another."""
    return {
        (one.place[0], one.place[2])
        for one in found
        if one.file == f"runs/{run}/figures.json"
        and one.source == source
        and one.place[1] == "figures"
        and one.place[3] == "value"
    }


def test_a_verdict_flipped_names_the_figures_it_changes(packed: tuple[bytes, str]) -> None:
    data, run = packed
    flip = replaced(b"slug:d,1,Pemilik,1", b"slug:d,1,Pemilik,0")
    flipped = changed(data, "verdicts.csv", flip)
    found = verified(flipped).differences

    assert PackDifference(
        DifferenceKind.VERDICT, "verdicts.csv", ("Pemilik", "question 1/2", "slug:d/1"), "0", "1",
        "events.jsonl",
    ) in found  # fmt: skip
    # Query 2 shows d, e, d: 2 of 3 relevant become 0 of 3, so every judged figure moves.
    assert {
        ("majority", "mean_precision_at_5"), ("majority", "mrr"), ("majority", "success_rate"),
        ("rater Pemilik", "mean_precision_at_5"), ("adjudicated", "composite"),
    } <= headline(found, run, "verdicts.csv")  # fmt: skip
    assert not any(rule == "rater Budi, =B" for rule, _ in headline(found, run, "verdicts.csv"))
    for member in ("rated.csv", "raters.csv", "judgments.csv", "qrels.txt", "run.json"):
        assert kinds(found, f"runs/{run}/{member}") == {DifferenceKind.CELL}, member
    assert kinds(found, "comparisons/1.json") == {DifferenceKind.FIGURE}
    assert kinds(found, f"runs/{run}/run.txt") == set()


def test_a_hash_that_was_not_mended_is_told_beside_the_figures(packed: tuple[bytes, str]) -> None:
    data, run = packed
    flip = replaced(b"slug:d,1,Pemilik,1", b"slug:d,1,Pemilik,0")
    found = verified(changed(data, "verdicts.csv", flip, mend_hash=False)).differences

    assert kinds(found, "verdicts.csv") == {DifferenceKind.HASH, DifferenceKind.VERDICT}
    assert headline(found, run, "verdicts.csv")


@pytest.mark.parametrize(
    ("member", "change"),
    [
        ("judgments.csv", replaced(b",2,1,slug:d,1,D,1", b",2,1,slug:d,1,D,0")),
        ("qrels.txt", replaced(b"2 0 slug:d/1 1", b"2 0 slug:d/1 0")),
        ("qrels.txt", replaced(b"2 0 slug:d/1 1\n", b"")),
        (
            "run.json",
            lambda data: data[: at(data)] + data[at(data) :].replace(b": 1\n", b": 0\n", 1),
        ),
    ],
)
def test_a_verdict_flipped_in_one_member_names_the_figures_that_member_would_make(
    packed: tuple[bytes, str], member: str, change: Change
) -> None:
    data, run = packed
    name = f"runs/{run}/{member}"
    found = verified(changed(data, name, change)).differences

    assert kinds(found, name) == {DifferenceKind.CELL}
    assert {rule for rule, _ in headline(found, run, name)} == {"majority"}
    assert {one.file for one in found} == {name, f"runs/{run}/figures.json"}


def test_an_event_flipped_names_the_verdict_and_the_figures(packed: tuple[bytes, str]) -> None:
    data, run = packed
    flip = _event_flipped("e2-1")
    found = verified(changed(data, "events.jsonl", flip)).differences

    assert kinds(found, "verdicts.csv") == {DifferenceKind.VERDICT}
    assert ("rater Pemilik", "mrr") in headline(found, run, "events.jsonl")
    assert {one.source for one in found} == {"events.jsonl"}


def test_a_pack_is_equal_whatever_was_verified_before_it(packed: tuple[bytes, str]) -> None:
    data, run = packed
    other = changed(data, f"runs/{run}/lists.csv", replaced(b",1,slug:a,", b",1,slug:h,"))
    assert not verified(other).equal

    assert verified(data).equal


def test_an_event_that_lost_may_say_anything_without_moving_a_figure(
    packed: tuple[bytes, str],
) -> None:
    """The log is evidence in itself, which only its hash holds."""
    data, _ = packed
    slip = _event_flipped("slip")

    assert verified(changed(data, "events.jsonl", slip)).equal
    unmended = verified(changed(data, "events.jsonl", slip, mend_hash=False)).differences
    assert [one.kind for one in unmended] == [DifferenceKind.HASH]


@pytest.mark.parametrize(
    ("name", "change", "kind"),
    [
        ("runs/RUN/figures.json", replaced(b'"value": 0.', b'"value": 0.1'), DifferenceKind.FIGURE),
        ("runs/RUN/figures.json", replaced(b'"mrr"', b'"mmr"'), DifferenceKind.FIGURE),
        ("runs/RUN/rated.csv", replaced(b"\n2,", b"\n3,"), DifferenceKind.CELL),
        ("runs/RUN/rated.csv", lambda data: data + data.splitlines(True)[-1], DifferenceKind.CELL),
        ("runs/RUN/raters.csv", replaced(b"(Pemilik)", b"(Pemilih)"), DifferenceKind.CELL),
        ("runs/RUN/run.txt", replaced(b" 1 3 ", b" 1 4 "), DifferenceKind.CELL),
        ("runs/RUN/run.json", replaced(b'"hybrid"', b'"api_only"'), DifferenceKind.CELL),
        ("runs/RUN/run.json", replaced(b"Question 1", b"Question 9"), DifferenceKind.CELL),
        ("runs/RUN/lists.csv", replaced(b",1,slug:a,", b",1,slug:h,"), None),
        ("runs/RUN/lists.csv", replaced(b"1,1,results,", b"1,1,empty,"), DifferenceKind.UNREADABLE),
        ("runs/RUN/lists.csv", replaced(b",,2,slug:b,", b",,1,slug:b,"), DifferenceKind.UNREADABLE),
        ("questions/1.json", replaced(b"Question 1", b"Question 9"), None),
        ("questions/1.json", replaced(b"[", b"{"), DifferenceKind.UNREADABLE),
        ("questions/1.json", replaced(b'"id": 7', b'"id": 1%s' % (b"0" * 400)), None),
        ("verdicts.csv", replaced(b",1,Pemilik", b",9999999999999999999,Pemilik"), None),
        ("ratings.csv", replaced(b',3,"', b',5,"'), DifferenceKind.VERDICT),
        ("ratings.csv", replaced(b",ok\n", b",bad\n"), DifferenceKind.VERDICT),
        ("adjudications.csv", replaced(b"slug:a,1,1,", b"slug:a,1,0,"), None),
        ("verdicts.csv", replaced(b",Pemilik,1", b",Pemilik,2"), DifferenceKind.UNREADABLE),
        ("verdicts.csv", replaced(b",Pemilik,1", b",Nobody,1"), DifferenceKind.VERDICT),
        ("verdicts.csv", lambda data: data + data.splitlines(True)[-1], DifferenceKind.VERDICT),
        ("events.jsonl", replaced(b"{", b"["), DifferenceKind.UNREADABLE),
        ("comparisons/1.json", replaced(b'"wins": ', b'"wins": 3'), DifferenceKind.FIGURE),
        ("comparisons/1.json", replaced(b'"seed": ', b'"seed": 1'), DifferenceKind.FIGURE),
        (
            "comparisons/1.json",
            replaced(b'"resamples": ', b'"resamples": 9999'),
            DifferenceKind.UNREADABLE,
        ),
        ("comparisons/1.json", lambda _: b"[]", DifferenceKind.UNREADABLE),
    ],
)
def test_any_other_change_is_told_of_the_member_or_of_what_rests_on_it(
    packed: tuple[bytes, str], name: str, change: Change, kind: DifferenceKind | None
) -> None:
    data, run = packed
    name = name.replace("RUN", run)
    found = verified(changed(data, name, change)).differences

    assert found
    if kind is not None:
        assert kind in kinds(found, name)


@pytest.mark.parametrize(
    "name",
    ["runs/RUN/rated.csv", "runs/RUN/lists.csv", "verdicts.csv", "events.jsonl", "README.md",
     "questions/1.json", "comparisons/1.json"],
)  # fmt: skip
def test_a_missing_member_is_named_once(packed: tuple[bytes, str], name: str) -> None:
    data, run = packed
    files = members(data)
    del files[name.replace("RUN", run)]
    found = verified(zipped(files)).differences

    (missing,) = [one for one in found if one.file == name.replace("RUN", run)]
    assert missing.kind is DifferenceKind.MISSING


def test_a_pack_made_before_differences_named_both_values_is_equal(
    packed: tuple[bytes, str],
) -> None:
    def without(found: bytes) -> bytes:
        document = json.loads(found)
        for difference in document["differences"]:
            for key in ("first_value", "second_value", "reverses_headline"):
                del difference[key]
        return json.dumps(document).encode()

    found = verified(changed(packed[0], "comparisons/1.json", without)).differences

    assert list(found) == []


def test_a_pack_made_before_the_setting_leaves_cannot_tell_out_and_stays_equal(
    tmp_path: Path, sqlite_template: Path
) -> None:
    database = Database(sqlite_url(tmp_path / "study.sqlite"))
    copied(sqlite_template, database)
    with database.writing() as session:
        study = studies.open_or_make(session, NOW)
        study.cannot_tell = "left_out"
        rated_study(session, study)
        few = Resampling(resamples=50)
        data = packs.of_study(session, study, Rule("majority"), settings=few).data
    database.close()

    def unstated(text: bytes) -> bytes:
        return re.sub(rb'\n *"cannot_tell": "left_out",', b"", text)

    older = {name: unstated(text) for name, text in members(data).items()}
    manifest = json.loads(older["manifest.json"])
    for file in manifest["files"]:
        file["sha256"] = sha256(older[file["name"]]).hexdigest()
    older["manifest.json"] = json.dumps(manifest).encode()

    assert b"left_out" in members(data)["comparisons/1.json"]
    assert not any(b"left_out" in text for name, text in older.items() if name != "README.md")
    assert verified(data).equal
    assert verified(zipped(older)).differences == ()


def test_another_setting_in_the_manifest_moves_figures(packed: tuple[bytes, str]) -> None:
    data, run = packed
    other = replaced(b'"cannot_tell": "not_relevant"', b'"cannot_tell": "left_out"')
    found = verified(changed(data, "manifest.json", other)).differences

    assert headline(found, run, "verdicts.csv")


def test_a_member_the_manifest_does_not_list_is_named(packed: tuple[bytes, str]) -> None:
    data, _ = packed
    (only,) = verified(zipped({**members(data), "extra.txt": b"?"})).differences

    assert (only.kind, only.file) == (DifferenceKind.UNLISTED, "extra.txt")


@pytest.mark.thorough
def test_no_content_makes_verifying_fall_over(packed: tuple[bytes, str]) -> None:
    """Each member in turn holds something else altogether."""
    texts = cycle([b"", b"\xff\xfe", b"null", b"[" * 50_000, b"{}", b"1e999", b"a,b\n1", b'"\xff'])
    data, run = packed
    files = members(data)
    others = {name for name in files if name.startswith("runs/") and run not in name}
    for name in sorted(set(files) - others - {"manifest.json", "README.md"}):
        for text in islice(texts, 3):
            if text == files[name].strip():
                continue  # the same value in other bytes: a hash that differs says enough
            found = verified(zipped({**files, name: text})).differences
            about = [one for one in found if name in {one.file, one.source}]
            assert {one.kind for one in about} - {DifferenceKind.HASH}, name


@pytest.mark.thorough
def test_no_value_makes_verifying_fall_over(packed_run: tuple[bytes, str]) -> None:
    """Values that do not belong there, one after another in every place of the JSON members."""
    data, run = packed_run
    files = members(data)
    values: cycle[Any] = cycle([10**400, -1, True, "1", [[]], {"a": {}}, "\ud800", 5.5, None])
    names = (f"runs/{run}/run.json", f"runs/{run}/figures.json")  # neither rests on the other
    for paths in (
        *zip_longest(*(_paths(json.loads(files[name])) for name in names)),
        *((None, None, path) for path in _paths(json.loads(files["questions/1.json"]))),
    ):
        spoilt = dict(files)
        for name, path in zip((*names, "questions/1.json"), paths, strict=False):
            if path is not None:
                document = json.loads(files[name])
                _set(document, path, next(values))
                spoilt[name] = json.dumps(document).encode()
        verified(zipped(spoilt))


def _event_flipped(event_id: str) -> Change:
    """Turn what one event set from relevant to not relevant, or back."""

    def flip(data: bytes) -> bytes:
        pattern = rb'("event_id": "%s".*?"new": ")([01])(")' % event_id.encode()
        return re.sub(
            pattern, lambda m: m[1] + (b"1" if m[2] == b"0" else b"0") + m[3], data, count=1
        )

    return flip


def _paths(document: Any) -> list[tuple[Any, ...]]:
    """One path to each value of another name or depth."""
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    def walk(value: Any, path: tuple[Any, ...]) -> None:
        names = [step for step in path if isinstance(step, str)]
        found.setdefault((len(path), *names[-1:]), path)
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, (*path, key))
        elif isinstance(value, list):
            for number, inner in enumerate(value[:2]):
                walk(inner, (*path, number))

    walk(document, ())
    return [path for path in found.values() if path]


def _set(document: Any, path: tuple[Any, ...], value: object) -> None:
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value
