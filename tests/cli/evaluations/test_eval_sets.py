"""``relevansi eval-set``: a dev set is drawn, named by its content, and scored by its ids."""

from __future__ import annotations

import json
from hashlib import sha1
from pathlib import Path

from tests.cli.relevansi import relevansi
from tests.services.evaluations.scored_files import EXAMPLE


def questions(folder: Path, n: int = 10) -> Path:
    """Questions 1 to n, three of ten about houses and the others about land."""
    listed = [
        {
            "id": number,
            "question": f"Apa {number}?",
            "expected": {
                "answer_example": EXAMPLE | {"main_topic": "rumah" if number <= 3 else "tanah"}
            },
        }
        for number in range(1, n + 1)
    ]
    path = folder / "question_v2.json"
    path.write_text(json.dumps(listed, indent=1), "utf-8")
    return path


def test_a_dev_set_is_named_by_the_hash_of_its_file(tmp_path: Path) -> None:
    """3 and 7 of 10 questions in a set of 5: 1.5 and 3.5, the first of them rounded up."""
    target = tmp_path / "dev5.json"
    command = ["eval-set", "make", str(questions(tmp_path)), "--n", "5", "--seed", "42"]
    done = relevansi(tmp_path, *command, "-o", target)

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"dev5@{sha1(target.read_bytes()).hexdigest()}"
    drawn = [one["id"] for one in json.loads(target.read_text("utf-8"))]
    assert drawn == sorted(drawn)
    assert [len([n for n in drawn if n <= 3]), len(drawn)] == [2, 5]
    assert "rumah: 2" in done.stderr
    again = relevansi(tmp_path, *command, "-o", tmp_path / "lagi.json")
    assert again.stdout.partition("@")[2] == done.stdout.partition("@")[2]
    other = relevansi(tmp_path, *command[:-1], "7", "-o", tmp_path / "lain.json")
    assert other.stdout.partition("@")[2] != done.stdout.partition("@")[2]


def test_the_version_of_a_set_does_not_depend_on_how_its_file_is_laid_out(tmp_path: Path) -> None:
    path = questions(tmp_path)
    first = relevansi(tmp_path, "eval-set", "version", path).stdout
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), "utf-8")

    assert relevansi(tmp_path, "eval-set", "version", path).stdout == first
    assert first.startswith("question_v2@")


def test_a_set_larger_than_the_file_is_refused_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "dev.json"
    done = relevansi(
        tmp_path, "eval-set", "make", questions(tmp_path), "--n", "11", "-o", target, language="id"
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "10 pertanyaan bisa dipakai; --n meminta 11." in done.stderr
    assert not target.exists()


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"runs": []}', "utf-8")
    done = relevansi(tmp_path, "eval-set", "make", path, "--n", "1", "-o", tmp_path / "y.json")

    assert done.returncode == 1
    assert "x.json" in done.stderr
