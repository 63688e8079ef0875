from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relevansi.chatbot.failures import KINDS
from relevansi.chatbot.mappings import MissingKey
from relevansi.db.tables.judging import Event, Judgment
from relevansi.db.tables.machine_judges import MachineCall, MachineJudge
from relevansi.db.tables.study import Study
from relevansi.kinds.property import Card
from relevansi.records import QueryState
from relevansi.services.judging import stored_summaries
from relevansi.services.machine_judges import calls as sessions
from relevansi.services.machine_judges import judges, token_estimates
from relevansi.services.machine_judges.calls import (
    AlreadyRunning,
    JudgeCall,
    JudgeWork,
    NothingToJudge,
    SessionState,
    Terms,
)
from relevansi.services.machine_judges.judges import (
    NotConfigured,
    OtherConfiguration,
    OtherLanguage,
)
from relevansi.services.machine_judges.prompts import UnfitPrompt
from relevansi.services.people import raters
from relevansi.services.people.raters import NameTaken
from relevansi.services.runs import runs
from relevansi.services.runs.reports import UnknownRater
from relevansi.services.workers.loop import LEASE_TIME, Idle, Lease
from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.conftest import NOW
from tests.services.machine_judges import machines
from tests.services.machine_judges.machines import stored_judge, text, worked
from tests.services.rating.blind_raters import set_study, stored
from tests.services.runs.runs import card, query

METHOD = "secret_hybrid_method"
LLM = "secret-llm-4o"
SHARED = card("a", price=1_670_000_000, bedrooms=3, location="Medan Johor")

FIRST = (
    query(1, SHARED, card("b"), text="Rumah di Johor?"),
    query(2, card("c"), card("d"), card("c"), text="Ada pilihan lain?", context_dependent=True),
    query(3, text="Kastil?"),
)
SECOND = (
    query(1, SHARED, card("e"), text="Rumah di Johor?"),
    query(2, card("c"), text="Ada pilihan lain?", context_dependent=True),
    query(3, text="Kastil?", state=QueryState.FAILED),
)
CARDS = 6
"""a (shared), b, e of question 1; c, d of the first run and c of the second of question 2."""


def two_runs(session: Session, study: Study) -> tuple[str, str]:
    set_study(session, study, guidelines="Relevan bila lokasinya cocok.")
    first, second = (
        stored(session, study, method, *queries)
        for method, queries in ((METHOD, FIRST), (f"{METHOD}_2", SECOND))
    )
    for run_id in (first, second):
        runs.relabel(session, study, run_id, METHOD, LLM, NOW)
    return first, second


def verdicts(session: Session, judge: MachineJudge) -> dict[int, str | None]:
    rows = session.scalars(select(Judgment).where(Judgment.rater_id == judge.rater_id))
    return {row.judged_item_id: row.verdict for row in rows}


def calls(session: Session, judge: MachineJudge) -> list[MachineCall]:
    of_judge = select(MachineCall).where(MachineCall.rater_id == judge.rater_id)
    return list(session.scalars(of_judge.order_by(MachineCall.judged_item_id)))


@pytest.fixture(name="bot")
def _bot() -> Iterator[Bot]:
    with bots.serving(machines.always("relevant")) as bot:
        yield bot


@pytest.fixture(name="judge")
def _judge(session: Session, study: Study, bot: Bot) -> MachineJudge:
    """A judge of a study with two runs that share a card."""
    two_runs(session, study)
    return stored_judge(session, study, machines.endpoint(bot))


def test_every_pooled_card_gets_one_call_and_an_empty_list_none(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    ended = worked(session, judge, machines.endpoint(bot))

    assert ended.state == SessionState.FINISHED
    assert len(bot.asked) == CARDS == ended.judged_items == ended.calls
    assert set(verdicts(session, judge).values()) == {"1"}
    assert len(verdicts(session, judge)) == CARDS
    events = session.scalars(select(Event).where(Event.rater_id == judge.rater_id)).all()
    assert {(event.cause, event.field, event.new) for event in events} == {
        ("machine", "verdict", "1")
    }
    assert stored_summaries.check(session) == []


def test_no_request_names_run_method_or_llm(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    """All bytes that left for the endpoint, headers too; a control finds the words elsewhere."""
    worked(session, judge, machines.endpoint(bot))

    body = json.dumps([bot.asked, bot.headers]).casefold()
    for run in runs.in_order(session, study):
        assert run.search_method == METHOD
        assert run.id not in body
    for secret in (METHOD, LLM, "hybrid", "gpt"):
        assert secret not in body
    assert "rumah di johor?" in body
    assert "relevan bila lokasinya cocok." in body
    assert "medan johor" in body
    assert {(question["model"], question["temperature"]) for question in bot.asked} == {
        (machines.MODEL, 0.0)
    }
    # a question that depends on its conversation comes with its own run's earlier turns
    prompts = [question["messages"][0]["content"] for question in bot.asked]
    followed = [prompt for prompt in prompts if "Ada pilihan lain?" in prompt]
    answers = ("Answer 1: ['a', 'b']", "Answer 1: ['a', 'e']", "Ada pilihan lain?")
    assert [sum(answer in prompt for prompt in followed) for answer in answers] == [2, 1, 3]
    others = [prompt for prompt in prompts if prompt not in followed]
    assert all("Earlier in this conversation:\n(none)" in prompt for prompt in others)


def test_the_next_session_calls_again_for_failed_cards_alone(
    session: Session, study: Study
) -> None:
    two_runs(session, study)
    broken = [text("no"), machines.always("relevant"), text("no"), machines.always("not_relevant")]
    with bots.serving(*broken) as bot:
        at = machines.endpoint(bot)
        judge = stored_judge(session, study, at)
        first = worked(session, judge, at)
        assert len(bot.asked) == CARDS
        assert len(verdicts(session, judge)) == CARDS - 2
        second = worked(session, judge, at)

        assert len(bot.asked) == CARDS + 2
    assert (first.state, second.state, second.judged_items) == ("finished", "finished", 2)
    assert len(verdicts(session, judge)) == CARDS
    assert [call.attempt for call in calls(session, judge) if call.attempt > 1] == [2, 2]
    result = sessions.progress(session, judge, NOW)
    assert [earlier.line.failed for earlier in result.earlier] == [0, 2]  # as when each ended
    assert result.n_failed == 0
    with pytest.raises(NothingToJudge):
        sessions.start(session, judge, at, Terms(), NOW)


@pytest.mark.parametrize(
    ("behaviour", "code", "tries"),
    [
        (bots.status(500, {"error": {"message": "overloaded"}}), "server_failed", 2),
        (bots.status(401, {"error": {"message": "bad key"}}), "question_refused", 1),
        (bots.status(200, {"choices": []}), "not_the_contract", 2),
    ],
)
def test_a_failed_call_has_its_code_and_counts_its_tries(
    behaviour: bots.Behaviour, code: str, tries: int
) -> None:
    lease = Lease(MachineCall, (1, 1), 1)
    call = JudgeCall(lease, 1, machines.MODEL, 0.0, "Rumah?", tries=2)
    with bots.serving(behaviour) as bot:
        outcome = JudgeWork(1, machines.endpoint(bot), machines.QUICK).ask(call)

        assert len(bot.asked) == tries
    assert (outcome.verdict, outcome.code, outcome.tries) == (None, code, tries)


def test_every_failure_of_the_client_has_a_sentence() -> None:
    assert set(KINDS) - {"other_session"} <= set(sessions.SENTENCES)  # an endpoint has no sessions


def test_an_answer_in_a_code_fence_is_judged_and_counted(session: Session, study: Study) -> None:
    wild = "a\\u0000b \\ud800 " + "x" * 9000  # NUL and half a surrogate pair
    fenced = text(f'```json\n{{"verdict": "relevant", "reason": "{wild}"}}\n```', None)
    two_runs(session, study)
    with bots.serving(fenced, machines.always("not_relevant")) as bot:
        at = machines.endpoint(bot)
        judge = stored_judge(session, study, at)
        ended = worked(session, judge, at, Terms(most_calls=2))

    result = sessions.progress(session, judge, NOW)
    (reason,) = [call.reason for call in calls(session, judge) if call.error_code == "code_fence"]
    assert (reason[:3], len(reason) <= 500, ended.uncounted) == ("ab ", True, 1)
    assert ended.completion_tokens == 60 + 20  # one is estimated, one stated
    assert sorted(filter(None, verdicts(session, judge).values())) == ["0", "1"]
    assert (result.judged, result.n_fenced, result.n_failed) == (2, 1, 0)


def test_a_stopped_session_keeps_what_was_on_its_way(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    at = machines.endpoint(bot)
    work = JudgeWork(judge.rater_id, at, machines.QUICK)
    begun = sessions.start(session, judge, at, Terms(), NOW)
    call = work.claim(session, NOW)
    assert isinstance(call, JudgeCall)
    sessions.stop(session, judge, NOW)
    work.store(session, call, work.ask(call), NOW)

    assert work.claim(session, NOW) is Idle.DONE
    assert begun.state == SessionState.STOPPED
    assert begun.calls == len(verdicts(session, judge)) == 1


def test_a_call_whose_caller_died_is_made_again_and_counted(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    """A server killed while the model thinks: nothing is lost, and nothing is judged twice."""
    at = machines.endpoint(bot)
    work = JudgeWork(judge.rater_id, at, machines.QUICK)
    begun = sessions.start(session, judge, at, Terms(at_once=1), NOW)
    died = work.claim(session, NOW)
    assert isinstance(died, JudgeCall)
    soon, later = NOW + LEASE_TIME - timedelta(seconds=1), NOW + LEASE_TIME
    assert work.claim(session, soon) is Idle.RETRY
    assert sessions.state_of(session, begun, soon) == SessionState.RUNNING
    assert sessions.state_of(session, begun, later + timedelta(1)) == SessionState.INTERRUPTED
    judged = []
    while isinstance(call := work.claim(session, later), JudgeCall):
        judged.append(call.lease.key)
        work.store(session, call, work.ask(call), later)
    work.store(session, died, work.ask(died), later)  # the caller that was thought dead comes back

    assert len(judged) == len(set(judged)) == CARDS
    assert died.lease.key in judged
    assert begun.state == SessionState.FINISHED
    assert begun.calls == CARDS + 2
    events = select(func.count()).where(Event.rater_id == judge.rater_id)
    assert session.scalar(events) == CARDS


def test_one_session_at_a_time_and_only_with_the_judge_s_own_model(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    at = machines.endpoint(bot)
    with pytest.raises(NotConfigured):
        sessions.start(session, judge, None, Terms(), NOW)
    with pytest.raises(OtherConfiguration):
        sessions.start(session, judge, machines.endpoint(bot, "other"), Terms(), NOW)
    begun = sessions.start(session, judge, at, Terms(), NOW)
    with pytest.raises(AlreadyRunning):
        sessions.start(session, judge, at, Terms(), NOW)

    other_model = machines.endpoint(bot, "other")
    assert JudgeWork(judge.rater_id, other_model).claim(session, NOW) is Idle.DONE
    assert (begun.state, begun.why) == (SessionState.FAILING, "other_configuration")
    raters.remove(session, judge.rater, NOW)
    with pytest.raises(UnknownRater):
        sessions.start(session, judge, at, Terms(), NOW)
    assert bot.asked == []


def test_another_prompt_is_another_judge_and_the_first_stays(
    session: Session, study: Study, bot: Bot, judge: MachineJudge
) -> None:
    at, before = machines.endpoint(bot), (judge.model, judge.prompt, judge.prompt_sha256)
    other_judge = stored_judge(session, study, at, name="Lain", prompt="{question} {card}")
    with pytest.raises(NameTaken):
        stored_judge(session, study, at, name="mesin")
    for unfit in ("{question}", "{card}", "{question} {card}" + "x" * 20_000):
        with pytest.raises(UnfitPrompt):
            stored_judge(session, study, at, name="Baru", prompt=unfit)

    assert other_judge.rater_id != judge.rater_id
    assert other_judge.prompt_sha256 != judge.prompt_sha256
    assert (judge.model, judge.prompt, judge.prompt_sha256) == before
    names = [judge.rater.name for judge, _, _ in judges.of_study(session, study)]
    assert names == ["Lain", "Mesin"]


def test_a_key_is_sent_from_its_variable_and_stored_nowhere(
    session: Session, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_runs(session, study)
    with bots.serving(machines.always("relevant")) as bot:
        at = machines.endpoint(bot, key_variable="MY_JUDGE_KEY")
        judge = stored_judge(session, study, at)
        with pytest.raises(MissingKey):
            sessions.start(session, judge, at, Terms(), NOW)
        monkeypatch.setenv("MY_JUDGE_KEY", "sk-secret")
        worked(session, judge, at, Terms(most_calls=1))

        assert bot.headers[0]["Authorization"] == "Bearer sk-secret"
    stored_rows = [
        str(vars(row)) for table in (MachineJudge, MachineCall) for row in session.query(table)
    ]
    assert "sk-secret" not in "".join(stored_rows)


def test_a_card_is_described_without_address_and_number(
    session: Session, bot: Bot, study: Study
) -> None:
    house = Card(
        title="Rumah {question}", url="https://hidden.example/x", slug="hidden-slug",
        listing_id="hidden-7", price=650_000_000, price_max=700_000_000, price_note="rent",
        price_period="year", location="Binjai", bedrooms=3, bathrooms=2, land_area=105.5,
        building_area=90, floors=2, certificate="SHM", source="project",
        image_url="https://hidden.example/x.jpg",
    )  # fmt: skip
    stored(session, study, METHOD, query(1, house, text="Rumah {card}?"))
    judge = stored_judge(session, study, machines.endpoint(bot), prompt="Q: {question}\nC: {card}")
    worked(session, judge, machines.endpoint(bot))

    (message,) = bot.asked[0]["messages"]
    assert message["content"] == (
        "Q: Rumah {card}?\nC: - Title: Rumah {question}\n- Offer: for rent\n- Kind: new project\n"
        "- Price: Rp 650000000 - Rp 700000000 a year\n- Location: Binjai\n- Bedrooms: 3\n"
        "- Bathrooms: 2\n- Land area: 105.5 m²\n- Building area: 90 m²\n- Floors: 2\n"
        "- Certificate: SHM"
    )


def test_deleting_a_run_or_the_judge_leaves_nothing_behind(
    session: Session, study: Study, bot: Bot
) -> None:
    first, _ = two_runs(session, study)
    judge = stored_judge(session, study, machines.endpoint(bot))
    worked(session, judge, machines.endpoint(bot))
    runs.delete_run(session, study, first, NOW)
    n_calls = session.scalar(select(func.count()).select_from(MachineCall))
    raters.delete_rater(session, judge.rater, NOW)

    assert n_calls == CARDS - 2  # c and d of the first run's own conversation
    for table in (MachineCall, MachineJudge, Judgment):
        assert session.scalar(select(func.count()).select_from(table)) == 0
    assert stored_summaries.check(session) == []


def test_five_cards_and_no_sixth_are_refused_however_many_calls_are_at_once(
    session: Session, study: Study
) -> None:
    two_runs(session, study)
    with bots.serving(bots.status(401, {"error": {"message": "bad key"}})) as bot:
        at = machines.endpoint(bot)
        judge = stored_judge(session, study, at)
        work = JudgeWork(judge.rater_id, at, machines.QUICK)
        begun = sessions.start(session, judge, at, Terms(at_once=3), NOW)
        for at_once in (3, 2):  # of five, three are refused already: two more may be
            calls = [work.claim(session, NOW) for _ in range(at_once)]
            assert work.claim(session, NOW) is Idle.RETRY
            for call in calls:
                assert isinstance(call, JudgeCall)
                work.store(session, call, work.ask(call), NOW)
        assert work.claim(session, NOW) is Idle.DONE

        assert len(bot.asked) == 5 == begun.calls
    assert (begun.state, begun.why) == (SessionState.FAILING, "question_refused")
    assert {call.error for call in session.scalars(select(MachineCall))} == {"401 bad key"}
    assert (begun.prompt_tokens, begun.completion_tokens) == (0, 0)


def test_a_try_counts_as_a_call(session: Session, study: Study) -> None:
    """Two tries of one card use up a budget of two; of three, the second card gets one."""
    two_runs(session, study)
    with bots.serving(bots.status(503, {})) as bot:
        at = machines.endpoint(bot)
        ended = worked(session, stored_judge(session, study, at), at, Terms(most_calls=3))

        assert len(bot.asked) == 3
    assert (ended.state, ended.calls) == (SessionState.CAPPED, 3)


def test_a_judge_with_an_indonesian_prompt_cannot_start(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    judge.language = "id"

    with pytest.raises(OtherLanguage):
        sessions.start(session, judge, machines.endpoint(bot), Terms(), NOW)


def test_tokens_are_estimated_by_characters_until_five_answers_are_measured(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    at = machines.endpoint(bot)
    before = token_estimates.estimate(session, judge)
    worked(session, judge, at, Terms(most_calls=5))
    after = token_estimates.estimate(session, judge)

    body = sum(len(question["messages"][0]["content"]) for question in bot.asked)
    assert (before.n_cards, before.completion_tokens, before.measured) == (CARDS, 6 * 60, 0)
    assert before.prompt_tokens == -(-(body + len(after.example)) // 4)
    assert (after.n_cards, after.completion_tokens, after.measured) == (1, 20, 5)
    assert after.prompt_tokens == -(-len(after.example) * 5 * 300 // body)
    assert token_estimates.cost(1_000_000, 100_000, 0.15, 0.6) == pytest.approx(0.21)
    assert token_estimates.cost(1, 1, None, 0.6) is None
