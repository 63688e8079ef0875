from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pytest
import stamina

from relevansi.chatbot import mappings
from relevansi.chatbot.client import Chatbot
from relevansi.importers.evaluations import expected_json
from relevansi.metrics.evaluations import json_answers
from relevansi.services.evaluations import json_answering
from tests.chatbot.bots import Behaviour, Bot, Handler, send, serving, status
from tests.cli.relevansi import PASSED_ON, document, relevansi
from tests.services.evaluations.scored_files import EXAMPLE

CONTEXT = {"source_path": "a.md", "text": "Ada tiga kamar, {question} sertifikat hak milik."}
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": number,
        "question": f"Apa {number}?",
        "expected": {"answer_example": EXAMPLE, "source_map": []},
        "contexts": [CONTEXT],
    }
    for number in (1, 2, 3)
]
GOOD = json.dumps(EXAMPLE | {"source_map": [{"refs": [{"file": "a.md", "anchors": ["Ada"]}]}]})
"""Everything as expected, one reference that leads back: 100 points."""


@pytest.fixture(autouse=True)
def _no_pauses() -> Iterator[None]:
    with stamina.set_testing(True, attempts=20, cap=True):
        yield


@pytest.fixture(name="questions")
def _questions(tmp_path: Path) -> Path:
    path = tmp_path / "question_v2.json"
    path.write_text(json.dumps(QUESTIONS), "utf-8")
    return path


def says(text: str, **more: object) -> Behaviour:
    """Answer as an OpenAI-compatible endpoint does."""

    def answer(handler: Handler, _question: Any) -> None:
        usage = {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980}
        body = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}
        send(handler, 200, json.dumps(body | more).encode())

    return answer


def answer(folder: Path, bot: Bot, questions: Path, *options: str) -> Any:
    return relevansi(
        folder, "answer", "json-v2", "--endpoint", bot.address, "--questions", questions,
        "-o", folder / "out.jsonl", *options,
    )  # fmt: skip


def written(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out.jsonl").read_text("utf-8").splitlines()]


def test_every_question_is_asked_once_and_scored_without_further_options(
    tmp_path: Path, questions: Path
) -> None:
    """Scores 100, 100 and 0: the last output stands in a code fence."""
    fenced = f"```json\n{GOOD}\n```\n"
    with serving(says(GOOD), says(GOOD), says(fenced)) as bot:
        process = answer(tmp_path, bot, questions, "--model", "kecil-7b", "--max-tokens", "256")

    assert process.returncode == 0, process.stderr
    assert "3 of 3 questions answered" in process.stdout
    assert [
        (question["model"], question["temperature"], question["max_tokens"])
        for question in bot.asked
    ] == [("kecil-7b", 0, 256)] * 3
    (message,) = bot.asked[1]["messages"]
    assert message["content"].endswith("Question:\n\nApa 2?\n")
    assert f"[source_path: a.md]\n{CONTEXT['text']}\n" in message["content"]
    head, *rows = written(tmp_path)
    assert rows[2] == {
        "id": "3",
        "output": fenced,
        "usage": {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980},
        "latency_ms": rows[2]["latency_ms"],
        "tries": 1,
        "model": None,
    }
    assert type(rows[2]["latency_ms"]) is int
    assert head["eval_set_version"] == json_answers.eval_set_version("question_v2", QUESTIONS)

    scored = relevansi(
        tmp_path, "score", "json-v2", "--questions", questions,
        "--outputs", tmp_path / "out.jsonl", "--format", "json",
    )  # fmt: skip
    printed = document(scored)
    assert scored.stderr == ""
    assert printed["summary"]["eval_score_avg"] == pytest.approx(200 / 3)
    assert printed["reasons"] == {"code_fence": 1}
    assert printed["provenance"] == {
        "prompt_sha256": json_answering.prompt_digest(),
        "prompt_version": json_answering.PROMPT_VERSION,
        "index_version": f"contexts of {head['eval_set_version']}",
        "model_id": "kecil-7b",
        "adapter_id": "none",
        "eval_set_version": head["eval_set_version"],
    }


def test_what_failed_or_was_cut_off_is_asked_again_and_nothing_else(
    tmp_path: Path, questions: Path
) -> None:
    refused = status(422, {"detail": "too long"})
    with serving(says(GOOD), refused, says(GOOD), says("later")) as bot:
        process = answer(tmp_path, bot, questions, "--model", "m")
        assert process.returncode == 1
        assert "Question 2: The chatbot refused the question (422): too long" in process.stderr
        assert "1 questions have no answer; --resume asks them again." in process.stderr

        with (tmp_path / "out.jsonl").open("ab") as file:
            file.write(b'{"id": "2", "outp')  # a crash in the middle of a line
        anew = answer(tmp_path, bot, questions, "--model", "m")
        assert "holds answers already. --resume goes on with them" in anew.stderr
        another_model = answer(tmp_path, bot, questions, "--model", "n", "--resume")
        assert "was made with model_id m, not n. Give another -o" in another_model.stderr
        assert (anew.returncode, another_model.returncode, len(bot.asked)) == (1, 1, 3)

        again = answer(tmp_path, bot, questions, "--model", "m", "--resume")
        assert (again.returncode, len(bot.asked)) == (0, 4)
        assert "3 of 3 questions answered" in again.stdout
    assert [(row["id"], row["output"]) for row in written(tmp_path)[1:]] == [
        ("1", GOOD),
        ("3", GOOD),
        ("2", "later"),
    ]


def test_five_failures_in_a_row_end_the_asking(tmp_path: Path) -> None:
    questions = tmp_path / "q.json"
    questions.write_text(json.dumps([QUESTIONS[0] | {"id": n} for n in range(9)]), "utf-8")
    with serving(status(401, {"error": {"message": "no key"}})) as bot:
        process = answer(tmp_path, bot, questions, "--model", "m")

    assert (process.returncode, len(bot.asked)) == (1, 5)
    assert (
        "Ended after several failed calls in a row; 9 questions have no answer." in process.stderr
    )
    assert not (tmp_path / "out.jsonl").exists()


def test_without_a_model_the_one_that_answers_is_named(tmp_path: Path, questions: Path) -> None:
    with serving(says(GOOD)) as bot:
        silent = answer(tmp_path, bot, questions)
    assert silent.returncode == 1
    assert "The endpoint does not say which model answered. Name it with --model." in silent.stderr
    with serving(says(GOOD, model="kecil-7b-0601")) as bot:
        process = answer(tmp_path, bot, questions, "--registry-model-id", "models/7")

    assert process.returncode == 0, process.stderr
    assert "model" not in bot.asked[0]
    head = written(tmp_path)[0]
    assert (head["model_id"], head["registry_model_id"]) == ("kecil-7b-0601", "models/7")
    assert "adapter_id" not in head


def test_what_is_on_its_way_when_the_asking_ends_is_kept(tmp_path: Path) -> None:
    question_set = expected_json.read_questions("q.json", json.dumps(QUESTIONS).encode())
    with serving(says(GOOD, model="m")) as bot:
        chatbot = Chatbot(bot.address, mappings.openai(None))
        asking = json_answering.begin(
            question_set, tmp_path / "out.jsonl", json_answering.head(question_set, chatbot, {})
        )
        outcomes = json_answering.ask_rest(asking, chatbot, at_once=2)
        next(outcomes)
        outcomes.close()

    assert len(asking.answered) >= 2
    assert {row["id"] for row in written(tmp_path)[1:]} == asking.answered


FOUND = {"source_path": "b.md", "text": "Ada dari pengambil."}
FROM_B = json.dumps(
    json.loads(GOOD) | {"source_map": [{"refs": [{"file": "b.md", "anchors": ["dari pengambil"]}]}]}
)


def gives(*contexts: object, **more: object) -> Behaviour:
    """Answer as a retriever does."""
    return status(200, {"contexts": list(contexts)} | more)


def test_contexts_of_a_retriever_reach_the_model_and_the_score(
    tmp_path: Path, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The references lead back to what the retriever gave, not to the file of questions."""
    keys = ("RELEVANSI_CHATBOT_KEY", "RELEVANSI_RETRIEVER_KEY")
    monkeypatch.setattr("tests.cli.relevansi.PASSED_ON", (*PASSED_ON, *keys))
    monkeypatch.setenv(keys[0], "of the model")
    monkeypatch.setenv(keys[1], "of the retriever")
    busy, result = status(503, {"error": "busy"}), {"context": [FOUND], "index_version": 7}
    gave = (busy, status(200, result), gives(index_version="7"), status(200, result))
    with serving(says(FROM_B)) as bot, serving(*gave) as retriever:
        process = answer(tmp_path, bot, questions, "--model", "m", "--retriever", retriever.address)

    assert process.returncode == 0, process.stderr
    assert "1 question has no contexts" in process.stderr
    assert retriever.asked[1:] == [{"id": str(n), "question": f"Apa {n}?"} for n in (1, 2, 3)]
    assert {header["Authorization"] for header in retriever.headers} == {"Bearer of the retriever"}
    assert {header["Authorization"] for header in bot.headers} == {"Bearer of the model"}
    assert "[source_path: b.md]\nAda dari pengambil.\n" in bot.asked[0]["messages"][0]["content"]
    assert "a.md" not in str(bot.asked)
    head, *rows = written(tmp_path)
    assert (head["index_version"], head["retriever"]) == ("7", retriever.address)
    assert [row["contexts"] for row in rows] == [[FOUND], [], [FOUND]]

    scored = relevansi(
        tmp_path, "score", "json-v2", "--questions", questions,
        "--outputs", tmp_path / "out.jsonl", "--format", "json",
    )  # fmt: skip
    assert scored.stderr == ""
    assert [header["grounding"] for header in document(scored)["items"]] == [1, 0, 1]
    assert document(scored)["provenance"]["index_version"] == "7"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"results": []}, 'it has no list "contexts", only: results.'),
        ([FOUND], "it is JSON, but not an object."),
        ({"contexts": "b.md"}, '"contexts" in it is not a list.'),
        ({"contexts": [FOUND, "b.md"]}, '"contexts[1]" in it is not an object.'),
        ({"context": [{"text": "b"}]}, '"context[0].source_path" in it is not a text.'),
        ({"contexts": [FOUND | {"text": 1}]}, '"contexts[0].text" in it is not a text.'),
    ],
)
def test_contexts_that_cannot_be_used_are_told_and_no_model_is_asked(
    tmp_path: Path, questions: Path, reply: object, reason: str
) -> None:
    with serving(says(GOOD)) as bot, serving(status(200, reply)) as retriever:
        options = ("--model", "m", "--index-version", "1", "--retriever", retriever.address)
        process = answer(tmp_path, bot, questions, *options)

    assert (process.returncode, bot.asked) == (1, [])
    assert f"Question 1: The retriever's answer cannot be used: {reason}" in process.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_answers_of_one_file_come_from_one_retriever_and_one_index(
    tmp_path: Path, questions: Path
) -> None:
    with serving(says(GOOD)) as bot, serving(gives(FOUND)) as retriever:
        silent = answer(tmp_path, bot, questions, "--model", "m", "--retriever", retriever.address)
    assert (silent.returncode, bot.asked) == (1, [])
    assert "does not name its index. Name it with --index-version." in silent.stderr
    first, later = gives(FOUND, index_version="A"), gives(FOUND, index_version="B")
    with serving(says(GOOD)) as bot, serving(first, later) as retriever:
        ask = (tmp_path, bot, questions, "--model", "m")
        with_retriever = (*ask, "--retriever", retriever.address)
        changed = answer(*with_retriever)
        resumed = answer(*with_retriever, "--resume")
        without = answer(*ask, "--resume")

    assert (changed.returncode, resumed.returncode, without.returncode) == (1, 1, 1)
    for process in (changed, resumed):
        assert "The retriever names its index B, not A" in process.stderr
    assert f"was made with retriever {retriever.address}, not none" in without.stderr
    assert ([row["id"] for row in written(tmp_path)[1:]], len(bot.asked)) == (["1"], 1)


def test_the_prompt_is_shown_with_its_hash_and_written_as_it_is(tmp_path: Path) -> None:
    process = relevansi(tmp_path, "answer", "json-v2", "--print-prompt")
    target = tmp_path / "prompt.md"
    relevansi(tmp_path, "answer", "json-v2", "--print-prompt", "-o", target)

    assert f"prompt_sha256: {sha256(target.read_bytes()).hexdigest()}" in process.stdout
    assert target.read_text("utf-8") in process.stdout


def test_another_prompt_needs_another_version() -> None:
    """A changed prompt needs a new version, and this pair with it."""
    first = "020142a82a9a0ecec1830922e9c2ded16125771f7fc751421207376e680edb2e"

    assert (json_answering.PROMPT_VERSION, json_answering.prompt_digest()) == (
        "eval_json_v2/1",
        first,
    )


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--endpoint", "http://127.0.0.1:9/v1"],
        ["--endpoint", "localhost", "--questions", "question_v2.json", "-o", "o.jsonl"],
        ["--endpoint", "http://127.0.0.1:9/v1", "--questions", "question_v2.json", "-o", "o.jsonl",
         "--adapter-id", "a", "--registry-model-id", "b"],
        ["--endpoint", "http://127.0.0.1:9/v1", "--questions", "question_v2.json", "-o", "o.jsonl",
         "--retriever", "localhost"],
    ],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(tmp_path: Path, questions: Path, options: list[str]) -> None:
    arguments = [str(questions) if option == questions.name else option for option in options]

    assert relevansi(tmp_path, "answer", "json-v2", *arguments).returncode == 2


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
    process = relevansi(tmp_path, *command, "-o", target)

    assert process.returncode == 0, process.stderr
    assert process.stdout.strip() == f"dev5@{sha1(target.read_bytes()).hexdigest()}"
    drawn = [load["id"] for load in json.loads(target.read_text("utf-8"))]
    assert drawn == sorted(drawn)
    assert [len([n for n in drawn if n <= 3]), len(drawn)] == [2, 5]
    assert "rumah: 2" in process.stderr
    again = relevansi(tmp_path, *command, "-o", tmp_path / "lagi.json")
    assert again.stdout.partition("@")[2] == process.stdout.partition("@")[2]
    reseeded = relevansi(tmp_path, *command[:-1], "7", "-o", tmp_path / "lain.json")
    assert reseeded.stdout.partition("@")[2] != process.stdout.partition("@")[2]


def test_a_set_larger_than_the_file_is_refused_in_one_line(tmp_path: Path) -> None:
    target = tmp_path / "dev.json"
    process = relevansi(
        tmp_path, "eval-set", "make", questions(tmp_path), "--n", "11", "-o", target, language="id"
    )

    assert (process.returncode, process.stdout) == (1, "")
    assert "10 pertanyaan bisa dipakai; --n meminta 11." in process.stderr
    assert not target.exists()
