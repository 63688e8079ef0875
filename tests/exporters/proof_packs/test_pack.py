"""The bytes of a proof pack depend on what is put in, and on nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from hashlib import sha256

from msgspec.structs import replace

from webapp.exporters.proof_packs.pack import (
    Contents,
    events_jsonl,
    pack,
    question_file,
    verdicts_csv,
)
from webapp.exporters.proof_packs.readme import readme
from webapp.importers.runs import questions
from webapp.metrics.proof_packs.evidence import GivenVerdict, LoggedEvent, SetQuestion, Thing
from webapp.metrics.proof_packs.proof_files import EVENT_KEYS
from webapp.records import Blindness, GivenOn

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CONTENTS = Contents(
    scope="run", study="S", rule="majority", cannot_tell="left_out", version="1",
    database="0001", made_at=AT, raters=("Ani",), runs=(), drawn=(), secret_commitment="c",
    blindness=Blindness(GivenOn(3, 1, 2, AT)), badged=((AT, AT),),
)  # fmt: skip


def infos(data: bytes) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.infolist()


def test_the_order_in_which_members_are_given_changes_nothing() -> None:
    one = pack(CONTENTS, {"b.csv": b"2", "a.csv": b"1"})

    assert one == pack(CONTENTS, {"a.csv": b"1", "b.csv": b"2"})
    assert [info.filename for info in infos(one)] == [
        "README.md", "manifest.json", "a.csv", "b.csv",
    ]  # fmt: skip


def test_no_member_tells_when_or_where_it_was_written() -> None:
    for info in infos(pack(CONTENTS, {"a": b"1"})):
        assert info.date_time == (1980, 1, 1, 0, 0, 0)
        assert (info.create_system, info.external_attr >> 16, info.extra) == (3, 0o100644, b"")


def test_the_manifest_has_the_hash_of_every_member_but_itself() -> None:
    data = pack(CONTENTS, {"a": b"1"})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        listed = {file["name"]: file["sha256"] for file in manifest["files"]}
        found = {
            name: sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name != "manifest.json"
        }

    assert listed == found
    assert manifest["blindness"]["verdicts"] == {
        "n": 3, "blind": 1, "open": 2, "last_open": AT.isoformat(), "unknown": 0,
    }  # fmt: skip
    assert manifest["badged"] == [{"since": AT.isoformat(), "until": AT.isoformat()}]
    assert manifest["created_at"] == AT.isoformat()


def test_verdicts_stand_in_the_order_of_questions_whatever_order_they_come_in() -> None:
    late = GivenVerdict("Ani", Thing("1", 10, "slug:a"), "1")
    early = GivenVerdict("Ani", Thing("1", 2, "slug:b"), "0")
    own = GivenVerdict("Ani", replace(early.thing, run="r"), "1")

    text = verdicts_csv([late, own, early]).decode()

    assert text == verdicts_csv([early, late, own]).decode()
    assert text.splitlines()[1:] == [
        "1,2,,slug:b,1,Ani,0", "1,2,r,slug:b,1,Ani,1", "1,10,,slug:a,1,Ani,1",
    ]  # fmt: skip


def test_an_event_has_exactly_the_agreed_keys() -> None:
    event = LoggedEvent(
        1, "e", "Ani", "verdict", None, None, None, None, None, "1", "click", None, "", 1, None, AT
    )

    assert tuple(json.loads(events_jsonl([event]))) == EVENT_KEYS


def test_a_question_file_is_read_again_as_what_it_was() -> None:
    asked = [SetQuestion(1, "rumah?", "x", False), SetQuestion(2, "lainnya?", "y", True)]
    read = questions.read("q.json", question_file(asked)).questions

    assert [(q.query_id, q.text, q.category, q.context_dependent) for q in read] == [
        (1, "rumah?", "x", False), (2, "lainnya?", "y", True),
    ]  # fmt: skip


def test_a_rule_or_name_is_only_text_in_the_readme() -> None:
    hostile = 'x"\n```\nimport os\n[a](b) <script>'
    text = readme([hostile], f"rater {hostile}", "left_out").decode()

    assert "\nimport os\n" not in text.replace("import json\n", "")
    assert "<script>" not in text.replace("\\<script>", "").partition("RULE =")[0]
