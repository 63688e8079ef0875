from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from hashlib import sha256

from relevansi.exporters.proof_packs.pack import lines, pack, readme
from relevansi.i18n import speaking
from tests.exporters.one_language import foreign

AT = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
FACTS = {
    "study": "S", "rule": "majority", "cannot_tell": "left_out", "raters": ["Ani"],
    "created_at": AT,
}  # fmt: skip


def test_the_bytes_follow_from_the_members_alone() -> None:
    data = pack(FACTS, "c", {"b.csv": b"2", "a.csv": b"1"}, {})

    assert data == pack(FACTS, "c", {"a.csv": b"1", "b.csv": b"2"}, {})
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = {info.filename: info for info in archive.infolist()}
        files = {name: archive.read(name) for name in infos}
    assert list(infos) == ["README.md", "manifest.json", "a.csv", "b.csv"]
    for info in infos.values():
        assert info.date_time == (1980, 1, 1, 0, 0, 0)
        assert (info.create_system, info.external_attr >> 16, info.extra) == (3, 0o100644, b"")
    manifest = json.loads(files.pop("manifest.json"))
    listed = {file["name"]: file["sha256"] for file in manifest["files"]}
    assert listed == {name: sha256(content).hexdigest() for name, content in files.items()}
    assert manifest["created_at"] == AT.isoformat()


def test_rows_stand_one_a_line() -> None:
    assert lines([]) == b"[]\n"
    assert lines([{"at": AT}, {"at": None}]) == (
        b'[\n{"at": "2026-03-01T09:00:00+00:00"},\n{"at": null}]\n'
    )


def facts(cannot_tell: str, rule: str, *raters: str) -> dict[str, object]:
    return {"cannot_tell": cannot_tell, "rule": rule, "raters": raters}


def test_a_proof_packs_readme_is_english_and_holds_hostile_names_as_text() -> None:
    hostile = 'x"\n```\nimport os\n[a](b) <script>'
    readmes = []
    for language in ("id", "en"):
        with speaking(language):
            described = facts("left_out", f"rater {hostile}", "Ani", hostile)
            readmes.append(readme(described, {}).decode())

    assert readmes[0] == readmes[1]
    assert foreign(readme(facts("not_relevant", "majority", "Ani"), {}).decode(), "en") == []
    assert "\nimport os\n" not in readmes[0].replace("import json\n", "")
    assert "<script>" not in readmes[0].replace("\\<script>", "").partition("RULE =")[0]
