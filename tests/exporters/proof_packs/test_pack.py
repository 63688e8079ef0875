"""The bytes of a proof pack depend on what is put in, and on nothing else."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from hashlib import sha256

from tests.exporters.one_language import foreign
from webapp.exporters.proof_packs.pack import lines, pack
from webapp.exporters.proof_packs.readme import readme
from webapp.i18n import speaking

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
FACTS = {
    "study": "S", "rule": "majority", "cannot_tell": "left_out", "raters": ["Ani"],
    "created_at": AT, "secret_sha256": "c",
}  # fmt: skip


def infos(data: bytes) -> list[zipfile.ZipInfo]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.infolist()


def test_the_order_in_which_members_are_given_changes_nothing() -> None:
    one = pack(FACTS, {"b.csv": b"2", "a.csv": b"1"})

    assert one == pack(FACTS, {"a.csv": b"1", "b.csv": b"2"})
    assert [info.filename for info in infos(one)] == [
        "README.md", "manifest.json", "a.csv", "b.csv",
    ]  # fmt: skip


def test_no_member_tells_when_or_where_it_was_written() -> None:
    for info in infos(pack(FACTS, {"a": b"1"})):
        assert info.date_time == (1980, 1, 1, 0, 0, 0)
        assert (info.create_system, info.external_attr >> 16, info.extra) == (3, 0o100644, b"")


def test_the_manifest_has_the_hash_of_every_member_but_itself() -> None:
    data = pack(FACTS, {"a": b"1"})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        listed = {file["name"]: file["sha256"] for file in manifest["files"]}
        found = {
            name: sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name != "manifest.json"
        }

    assert listed == found
    assert manifest["created_at"] == AT.isoformat()


def test_rows_stand_one_a_line() -> None:
    assert lines([]) == b"[]\n"
    assert lines([{"at": AT}, {"at": None}]) == (
        b'[\n{"at": "2026-03-01T09:00:00+00:00"},\n{"at": null}]\n'
    )


def test_a_proof_packs_readme_is_english_in_every_language() -> None:
    with speaking("id"):
        text = readme(("Ani", "Budi"), "majority", "not_relevant").decode()
    with speaking("en"):
        assert text == readme(("Ani", "Budi"), "majority", "not_relevant").decode()

    assert foreign(text, "en") == []


def test_a_rule_or_name_is_only_text_in_the_readme() -> None:
    hostile = 'x"\n```\nimport os\n[a](b) <script>'
    text = readme([hostile], f"rater {hostile}", "left_out").decode()

    assert "\nimport os\n" not in text.replace("import json\n", "")
    assert "<script>" not in text.replace("\\<script>", "").partition("RULE =")[0]
