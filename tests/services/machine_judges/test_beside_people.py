from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.db.tables.judging import JudgedItem, StoredItem
from relevansi.db.tables.machine_judges import MachineJudge
from relevansi.db.tables.people import LogEntry, Rater
from relevansi.db.tables.study import Study
from relevansi.exporters.agreement.report import agreement_json
from relevansi.exporters.comparisons.files import comparison_json
from relevansi.records import Relevance
from relevansi.services.agreement import adjudications, agreement
from relevansi.services.comparisons import chosen_runs, comparisons
from relevansi.services.exports import exports
from relevansi.services.judging import events, stored_summaries
from relevansi.services.judging.events import Target
from relevansi.services.machine_judges import judges
from relevansi.services.machine_judges.judges import TooLittleShared
from relevansi.services.people import raters, sign_in
from relevansi.services.people.raters import MachineIsNotInvited
from relevansi.services.people.sign_in import SessionCookie
from relevansi.services.proof_packs import packs
from relevansi.services.proof_packs.packs import MachineNotPacked
from relevansi.services.rating import workloads
from relevansi.services.runs import reports
from relevansi.services.runs.reports import MachineNotReleased, in_study
from relevansi.services.runs.votes import votes_by_item
from relevansi.services.study import progress, studies
from tests.chatbot.bots import Bot
from tests.conftest import NOW
from tests.services.machine_judges import machines
from tests.services.machine_judges.conftest import N
from tests.services.machine_judges.machines import worked
from tests.services.rating.blind_raters import Robot
from tests.services.runs.runs import click


def person(session: Session, study: Study, name: str) -> Rater:
    return raters.find_named(session, study, name) or raters.add(session, study, name, NOW)


def say(session: Session, rater: Rater, verdicts: dict[str, str]) -> None:
    """Let a person judge cards by their slug."""
    items: dict[str, int] = {
        identity.rpartition(":")[2]: item
        for item, identity in session.execute(
            select(JudgedItem.id, StoredItem.identity).join(StoredItem)
        )
    }
    targets = []
    for number, (slug, verdict) in enumerate(verdicts.items()):
        item = next(item for name, item in items.items() if name.endswith(slug))
        targets.append(Target("verdict", item_id=item))
        at = click(f"{rater.id}-{slug}", minute=number)
        events.record(session, rater, targets[-1], verdict, at)
    events.refresh(session, rater, targets)


def two_people(session: Session, study: Study) -> tuple[Rater, Rater]:
    """Ani says yes to every first card, Budi to all; they disagree on each second one."""
    ani, budi = person(session, study, "Ani"), person(session, study, "Budi")
    robot = Robot(session, budi)
    page = robot.next_page()
    assert page is not None
    robot.rate(page)
    say(session, budi, {f"p{n}{which}": "1" for n in range(1, 16) for which in "ab"})
    say(session, ani, {f"p{n}a": "1" for n in range(1, 16)} | {f"p{n}b": "0" for n in range(1, 16)})
    return ani, budi


def everything_of_people(session: Session, study: Study) -> str:
    """All that is shown or exported of people's verdicts, as one text."""
    result: dict[str, Any] = {}
    runs = [candidate.run.id for candidate in chosen_runs.candidates(session, study)]
    for rule_name in ("adjudicated", None):  # the pack has the majority, and figures by each rule
        rule = reports.rule_of(session, study, rule_name)
        for name in ("wide-csv", "qrels"):
            file = exports.export(session, study, runs[0], rule, name)
            result[f"{rule.name} {name}"] = (file.data, file.notes)
        compared = comparisons.report(session, study, runs, rule)
        result[f"{rule.name} compared"] = comparison_json(compared)
    result["agreement"] = agreement_json(agreement.report(session, study))
    result["docket"] = adjudications.docket(session, study)
    result["standing"] = progress.question_progress(session, study)
    result["candidates"] = chosen_runs.candidates(session, study)
    rule = reports.rule_of(session, study, "majority")
    pack = packs.pack(session, study, None, rule)
    with zipfile.ZipFile(io.BytesIO(pack.data)) as opened:
        members = {name: opened.read(name) for name in opened.namelist()}
    dated = {"manifest.json", "SHA256SUMS", "README.md", "pack.json"}
    result |= {name: data for name, data in members.items() if name.split("/")[-1] not in dated}
    result["votes"] = votes_by_item(session, study, in_study(study))
    result["lines"] = [line for line in raters.lines(session, study) if not line.is_machine]
    result["progress"] = [
        (workloads.progress(session, rater), workloads.finished_counts(session, rater))
        for rater in studies.raters(session, study)
    ]
    text = "\n".join(f"{name}: {value!r}" for name, value in result.items())
    return re.sub(r" at 0x\w+", "", text)


def test_no_figure_of_people_moves_when_a_machine_has_judged_everything(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    """Every export, comparison, coefficient, count and list, byte for byte; a tie stays one."""
    two_people(session, study)
    before = everything_of_people(session, study)
    worked(session, judge, machines.endpoint(bot), now=NOW - timedelta(days=1))
    after = everything_of_people(session, study)

    assert judges.beside_people(session, study, judge).machine_judged == N
    assert after == before
    assert "Mesin" not in after
    assert stored_summaries.check(session) == []


def test_the_agreement_is_over_cards_that_both_decided_and_its_table_is_counted_by_hand(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    """One person says yes to first cards, no to second ones, but yes to p2b, cannot tell of p4a.

    The machine says yes to first cards and to p3b, cannot tell of p1a. So of 30 cards both
    decided 28 (not p1a, not p4a) and differ on p2b and p3b.
    """
    ani = person(session, study, "Ani")
    verdicts = {f"p{n}a": "1" for n in range(1, 16)} | {f"p{n}b": "0" for n in range(1, 16)}
    say(session, ani, verdicts | {"p2b": "1", "p4a": "unsure"})
    worked(session, judge, machines.endpoint(bot))
    result = judges.beside_people(session, study, judge)

    yes, no, unsure = Relevance.RELEVANT, Relevance.NOT_RELEVANT, Relevance.UNSURE
    assert dict(result.table) == {
        (yes, yes): 13, (no, no): 13, (yes, no): 1, (no, yes): 1, (unsure, yes): 1, (yes, unsure): 1
    }  # fmt: skip
    assert result.n == 28
    assert result.agreement.raw.value == pytest.approx(26 / 28)
    assert result.agreement.cohen.value == pytest.approx((26 / 28 - 1 / 2) / (1 - 1 / 2))
    assert [(card.card.identity[5:], card.machine, card.people) for card in result.cards[:4]] == [
        ("p2b", no, yes), ("p3b", yes, no), ("p1a", unsure, yes), ("p4a", yes, unsure)
    ]  # fmt: skip
    assert {card.reason for card in result.cards} == {"As the card says."}
    assert [(name, card.raw.n) for name, card in result.people] == [("Ani", 28)]


def test_figures_are_refused_until_they_are_released_and_again_once_withdrawn(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    say(session, person(session, study, "Ani"), {f"p{n}a": "1" for n in range(1, 16)})
    worked(session, judge, machines.endpoint(bot))
    with pytest.raises(TooLittleShared) as few:
        judges.release(session, judge, NOW)
    assert few.value.args == (14,)  # of 15 the machine cannot tell one
    assert "machine Mesin" not in {rule.name for rule in reports.rules(session, study)}
    for name in ("rater Mesin", "machine Mesin"):
        with pytest.raises(MachineNotReleased):
            reports.rule_of(session, study, name)

    say(session, person(session, study, "Ani"), {f"p{n}b": "0" for n in range(1, 16)})
    judges.release(session, judge, NOW)
    rule = reports.rule_of(session, study, "rater Mesin")
    run_id = chosen_runs.candidates(session, study)[0].run.id
    report = reports.report(session, study, run_id, rule)
    file = exports.export(session, study, run_id, rule, "long-csv")
    compared = comparisons.report(
        session,
        study,
        [candidate.run.id for candidate in chosen_runs.candidates(session, study)],
        rule,
    )

    assert rule.name == report.rule == "machine Mesin"
    with pytest.raises(MachineNotPacked):
        packs.pack(session, study, None, rule)
    assert "machine Mesin" in {candidate.name for candidate in reports.rules(session, study)}
    assert [row.verdicts[0] for row in report.rows][:2] == [Relevance.UNSURE, Relevance.RELEVANT]
    assert b"Mesin (mesin)" in file.data
    assert list(compared.raters) == [("Mesin (mesin)", N)]
    assert reports.rule_of(session, study).name == "rater Ani"
    (line,) = session.scalars(select(LogEntry).where(LogEntry.action == "release machine judge"))
    assert line.new == "n = 29, kappa = 0.9311"  # (28/29 - 420/841) / (1 - 420/841)

    judges.release(session, judge, NOW, is_released=False)
    with pytest.raises(MachineNotReleased):
        reports.rule_of(session, study, "machine Mesin")
    actions = session.scalars(select(LogEntry.action).order_by(LogEntry.id.desc()).limit(1)).all()
    assert actions == ["withdraw machine judge"]


def test_nobody_can_be_a_machine(session: Session, study: Study, judge: MachineJudge) -> None:
    """No invitation, no cookie, not where nobody signs in either."""
    with pytest.raises(MachineIsNotInvited):
        raters.invite(session, study, "MESIN", NOW)
    with pytest.raises(MachineIsNotInvited):
        raters.make(session, judge.rater, NOW)
    session.flush()
    cookie = SessionCookie(judge.rater_id)

    assert sign_in.current_user(session, cookie, NOW).rater_id == raters.owner(session, study).id
    study.password = "set"
    session.flush()
    assert sign_in.current_user(session, cookie, NOW).rater_id is None
    assert judge.rater not in studies.raters(session, study)
