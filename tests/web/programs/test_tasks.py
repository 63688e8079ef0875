"""A rater's program: their own questions, as the blind page shows them, and nothing else."""

from __future__ import annotations

import json

from flask import Flask
from sqlalchemy import select

from relevansi.db.tables.judging import Event, Judgment
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Run
from relevansi.services.runs import reports
from tests.stored_studies import open_study
from tests.web import visitors
from tests.web.documents import lines
from tests.web.programs.program import Program
from tests.web.rating.blind_study import three_runs


def judged_to_the_end(program: Program) -> list[str]:
    """Judge, rate and classify whatever comes next until nothing is left; return all answers."""
    responses, n = [], 0
    while (response := program.post("/tasks"))["task"] is not None:
        task = response["task"]
        place = f"/tasks/{task['id']}"
        responses.append(json.dumps(response))
        n += 1
        assert n < 100
        for card in task["cards"]:
            event_id = f"c{n}-{card['number']}"
            task = program.post(
                f"{place}/judgments", event_id=event_id, card=card["card"], verdict="1"
            )
        if task["stage"] == "emptiness":
            task = program.post(f"{place}/ratings", event_id=f"o{n}", empty_outcome="correct_empty")
        for answer in task["answers"]:
            event_id = f"a{n}-{answer['letter']}"
            task = program.post(
                f"{place}/ratings", event_id=event_id, answer=answer["answer"], quality=4
            )
        assert task["stage"] == "done"
        responses.append(json.dumps(task))
    return responses


def test_a_rater_s_program_rates_a_study_to_its_end(app: Flask) -> None:
    """Every verdict and grade is the rater's, and blind as those of their page."""
    three_runs(app.extensions["database"])
    program = Program(app, "judge", rater="Ani")
    judged_to_the_end(program)
    with open_study(app.extensions["database"]) as (session, study):
        ani = session.scalars(select(Rater).where(Rater.name == "Ani")).one()
        rule = reports.of_rater(ani)
        for run in session.scalars(select(Run)):
            assert reports.state(session, study, Query.run_id == run.id, rule).is_complete
        blind = reports.blindness(session, study, reports.in_study(study), rule)

    assert blind.verdicts.n == blind.verdicts.blind > 0
    assert blind.grades.n == blind.grades.blind > 0
    assert program.post("/tasks") == {"task": None, "left": 0}


def test_nothing_of_a_run_reaches_a_blind_rater_s_program(app: Flask) -> None:
    """No name, score, id, metadata, file name or order of a run is in any answer."""
    rows = lines(
        {
            "query": "Does copper bend?",
            "system": f"CANARY-system{system}",
            "rank": rank,
            "score": 0.123 + rank,
            "doc_id": f"CANARY-id{number}",
            "title": f"Title {number}",
            "text": f"Copper bends, {number}.",
            "CANARY_note": "CANARY-value",
        }
        for system, numbers in enumerate(([0, 1, 2], [2, 3, 0]))
        for rank, number in enumerate(numbers, 1)
    )
    owner = Program(app)
    owner.send(("CANARY-file.jsonl", rows))
    responses = "".join(judged_to_the_end(Program(app, "judge", "read", rater="Ani")))

    assert "Copper bends" in responses
    for secret in ("CANARY-id", "CANARY-system", "CANARY-file", "0.123", "rank", '"score"'):
        assert secret not in responses


def test_a_task_of_another_rater_is_not_found(app: Flask) -> None:
    """As on its page."""
    three_runs(app.extensions["database"])
    task = Program(app, "judge", rater="Ani").post("/tasks")["task"]
    second = Program(app, "judge", rater="Budi")

    assert second.ask("GET", f"/tasks/{task['id']}").status_code == 404
    card, address = task["cards"][0]["card"], f"/tasks/{task['id']}/judgments"
    assert second.post(address, status=404, event_id="x", card=card, verdict="1")


def test_page_and_program_of_a_rater_show_the_same_question(app: Flask) -> None:
    """The same cards in the same order, under the same names, with the same verdicts."""
    three_runs(app.extensions["database"])
    visitors.lock(app.extensions["database"])
    page, program = visitors.invited(app, "Ani"), Program(app, "judge", rater="Ani")
    address = str(page.get("/rate/").location)
    task = program.post("/tasks")["task"]
    first = task["cards"][0]["card"]
    page.post(f"{address}/judgment", data={"card": first, "relevance": "0"})

    assert address.endswith(task["id"])
    assert program.get(f"/tasks/{task['id']}")["cards"][0]["verdict"] == "0"
    text = page.get(address).text
    places = [text.index(card["card"]) for card in task["cards"]]
    assert places == sorted(places)
    with app.extensions["database"].reading() as session:
        assert len(session.scalars(select(Event)).all()) == 1
        assert session.scalars(select(Judgment.verdict)).all() == ["0"]
