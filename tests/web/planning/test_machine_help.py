"""The rating plan shows people with a machine's help, and says when that is not valid."""

from __future__ import annotations

import re
from html import unescape

from flask.testing import FlaskClient

from tests.services.planning.helped import drawn, judge, machine, study_of_two_runs
from webapp.db.engine import Database
from webapp.services.study import studies

PAGE = "/study/planning"
BY_MACHINE = {1: "11", 2: "10", 3: "00", 4: "11", 5: "10", 6: "11", 7: "00", 8: "01"}
BY_PEOPLE = {1: "11", 2: "10", 3: "01", 4: "11"}


def rated(database: Database, *, sample: bool = False, left: int = 0) -> None:
    """Two runs judged by people in part and by a machine; `left` questions it has left."""
    with database.writing() as session:
        study = studies.current(session)
        assert study is not None
        owner = studies.raters(session, study)[0]
        runs = study_of_two_runs(session, study)
        if sample:
            drawn(session, owner, runs[0])
        machines = machine(session, study), machine(session, study, "Other")
        by_machine = {n: said for n, said in BY_MACHINE.items() if n <= 8 - left}
        for run in runs:
            judge(session, machines[0], run, by_machine)
            judge(session, owner, run, BY_PEOPLE)
        judge(session, machines[1], runs[0], {1: "10"})
        session.commit()


def words(page: str) -> str:
    """Return the text of the part."""
    part = page.partition('id="machine_help"')[2].partition("</section>")[0]
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", part)).split())


def test_before_a_machine_judged_the_page_says_what_it_could_do(
    client: FlaskClient, run_id: str
) -> None:
    assert run_id
    assert "No machine judge has judged these questions yet." in words(client.get(PAGE).text)


def test_figures_stand_beside_those_of_people_alone_with_the_rule(
    client: FlaskClient, web_database: Database
) -> None:
    rated(web_database, sample=True)

    said = words(client.get(PAGE).text)

    assert "Rule: People with a machine's help, chosen" in said
    assert "seed 1936. It drew 4 of 8 questions at random." in said
    assert "It was chosen before the first verdict." in said
    assert "Not valid" not in said
    # P@5: people 1, 1/2, 1/2, 1; the machine 1, 1/2, 0, 1 and 1/2, 1, 0, 1/2: cov 3/32, var 39/224,
    # weight 7/26, so 3/4 + 7/26 x (1/2 - 5/8).
    assert re.search(r"Precision@5, Hybrid 0\.72 \[0\.\d+; 1\.00\] 0\.75 \[0\.\d+;", said)
    assert " 0.27 " in said
    assert "4 of 8" in said
    assert "How many questions should people judge?" in said
    wide, narrow = (
        words(client.get(f"{PAGE}?width={width}").text).partition(" For 95%")[0]
        for width in (0.9, 0.02)
    )
    assert "MRR, Hybrid all all 8" in narrow
    assert "MRR, Hybrid all all 8" not in wide
    # People found something in every sampled answer, so nothing shows how far others would differ.
    assert "Success rate, Hybrid" not in wide.partition("How many questions")[2]


def test_without_a_sample_the_page_says_that_it_is_not_valid(
    client: FlaskClient, web_database: Database
) -> None:
    rated(web_database)

    assert "Not valid: no sample was drawn before people judged." in words(client.get(PAGE).text)


def test_a_machine_with_cards_left_is_said_to_have_them_and_another_can_be_chosen(
    client: FlaskClient, web_database: Database
) -> None:
    rated(web_database, sample=True, left=2)

    page = client.get(PAGE).text
    said = words(page)

    assert "Mesin has cards left in 2 of 8 questions." in said
    assert "The machine has cards left." in said
    address = re.search(r'href="([^"]+machine=\d+)[^"]*">Other', page)
    assert address is not None
    other = words(client.get(address[1].replace("&amp;", "&")).text)
    assert "Other has cards left in 8 of 8 questions." in other


def test_a_width_that_is_none_is_read_as_the_usual_one(
    client: FlaskClient, web_database: Database
) -> None:
    rated(web_database, sample=True)

    for width in ("0", "-1", "2", "nan", "wide"):
        assert 'value="0.2"' in client.get(f"{PAGE}?width={width}").text
