"""A machine judges on the grades of a study: it is asked by them, read by them, and compared."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import Judgment
from relevansi.db.tables.machine_judges import MachineCall
from relevansi.db.tables.study import Study
from relevansi.records import BINARY, Scale
from relevansi.services.judging import stored_summaries
from relevansi.services.machine_judges import judges, prompts
from relevansi.services.machine_judges.prompts import UnreadableVerdict
from relevansi.services.runs import results, stored_results
from tests.chatbot import bots
from tests.conftest import NOW
from tests.services.machine_judges import machines
from tests.services.machine_judges.machines import saying, worked
from tests.services.machine_judges.test_beside_people import person

SCALE = Scale(top=3, relevant_from=2, words=("off", "near", "part", "full"))
GRADES = {f"d{n}": n % 4 for n in range(1, 31)}
"""What a person says of each document."""


def machine_says(document: str) -> str:
    """One grade higher of each fifth document, if there is one; the last it cannot tell."""
    number = int(document[1:])
    if number == 30:
        return "cannot_tell"
    return str(min(3, GRADES[document] + (number % 5 == 0)))


@pytest.mark.parametrize(("kind", "scale"), [("document", BINARY), ("document", SCALE),
                                             ("property", SCALE)])  # fmt: skip
def test_a_prompt_names_every_grade_with_its_meaning_and_the_answers(
    kind: str, scale: Scale
) -> None:
    prompt = prompts.default("{grades}", kind, scale)

    prompts.check(prompt)
    assert [prompt.count(f"{{{place}}}") for place in prompts.PLACES] == [1, 1, 1]
    assert prompt.count("{grades}") == 1  # what the guidelines say is no place
    for answer in prompts.answers(scale):
        assert f'"{answer}"' in prompt
    for word in scale.words:
        assert word in prompt


def test_studies_of_relevant_properties_ask_as_before() -> None:
    usual = prompts.default("Harga.")

    assert usual == prompts.default("Harga.", "property", Scale())
    assert '"not_relevant"' in usual


@pytest.mark.parametrize("verdict", ["0", "1", "2", "3", "cannot_tell"])
def test_an_answer_is_a_grade_of_the_scale(verdict: str) -> None:
    answer = prompts.read(f'{{"verdict": "{verdict}", "reason": "x"}}', SCALE)

    assert SCALE.accepts(answer.verdict)
    assert answer.verdict == {"cannot_tell": "unsure"}.get(verdict, verdict)


@pytest.mark.parametrize("verdict", ['"4"', '"relevant"', "2", '"unsure"', "null"])
def test_another_answer_is_no_verdict(verdict: str) -> None:
    with pytest.raises(UnreadableVerdict) as refused:
        prompts.read(f'{{"verdict": {verdict}, "reason": "x"}}', SCALE)
    assert str(refused.value) == "no_verdict"


def test_a_machine_that_grades_documents_is_compared_by_weighted_kappas(
    session: Session, study: Study
) -> None:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    study.scale = SCALE.to_store()
    run = "".join(f"q{n} Q0 d{n} 1 1 bm25\n" for n in range(1, 31))
    corpus = "".join(f'{{"_id": "d{n}", "text": "It is d{n}"}}\n' for n in range(1, 31))
    qrels = "".join(f"q{doc[1:]} 0 {doc} {grade}\n" for doc, grade in GRADES.items())
    files = [("run.txt", run), ("corpus.jsonl", corpus), ("qrels.txt", qrels)]
    named_data = [(name, text.encode()) for name, text in files]
    report = results.read_files("files", named_data)
    stored_results.store(session, study, report, NOW, "Ani")
    assert person(session, study, "Ani")

    def decide(prompt: str) -> str:
        assert "near" in prompt
        return machine_says(prompt.partition("It is ")[2].split()[0])

    with bots.serving(saying(decide)) as bot:
        at = machines.endpoint(bot)
        prompt = judges.usual_prompt(study)
        judge = machines.stored_judge(session, study, at, prompt=prompt)
        worked(session, judge, at)
    result = judges.beside_people(session, study, judge)

    assert sum(result.table.values()) == 30
    assert result.table["unsure", "2"] == 1
    pairs = [(int(machine_says(doc)), grade) for doc, grade in GRADES.items() if doc != "d30"]
    machine, human = zip(*pairs, strict=True)
    assert result.n == 29
    assert result.agreement.quadratic is not None
    kappa = cohen_kappa_score(machine, human, weights="quadratic")
    assert result.agreement.quadratic.value == pytest.approx(kappa, abs=1e-12)
    assert {card.is_apart for card in result.cards} == {True, False}
    judges.release(session, judge, NOW)
    assert judge.released_at is not None
    stored = select(Judgment.verdict).where(Judgment.rater_id == judge.rater_id)
    assert set(session.scalars(stored)) == {"0", "1", "2", "3", "unsure"}
    assert set(session.scalars(select(MachineCall.verdict))) == {"0", "1", "2", "3", "unsure"}
    assert stored_summaries.check(session) == []
