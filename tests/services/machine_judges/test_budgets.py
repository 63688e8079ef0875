"""Budgets of a session, the estimate before it, and how many failures end it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy.orm import Session

from tests.chatbot import bots
from tests.chatbot.bots import Bot
from tests.conftest import NOW
from tests.services.machine_judges import machines
from tests.services.machine_judges.machines import made, saying, worked
from tests.services.machine_judges.pooled_runs import CARDS, METHOD, calls, said, two_runs
from tests.services.rating.blind_raters import stored
from tests.services.runs.runs import card, query
from webapp.db.tables.machine_judges import MachineJudge
from webapp.db.tables.study import Study
from webapp.services.machine_judges import calls as sessions
from webapp.services.machine_judges import prompts
from webapp.services.machine_judges.calls import JudgeCall, JudgeWork, SessionState, Terms
from webapp.services.workers.loop import Nothing


@pytest.fixture(name="bot")
def _bot() -> Iterator[Bot]:
    with bots.serving(machines.always("relevant")) as bot:
        yield bot


@pytest.fixture(name="judge")
def _judge(session: Session, study: Study, bot: Bot) -> MachineJudge:
    """A judge of a study with two runs that share a card."""
    two_runs(session, study)
    return made(session, study, machines.endpoint(bot))


def test_an_endpoint_that_fails_again_and_again_ends_the_session(
    session: Session, study: Study
) -> None:
    """Five in a row: so many calls are all it can cost."""
    two_runs(session, study)
    with bots.serving(bots.status(401, {"error": {"message": "bad key"}})) as bot:
        at = machines.endpoint(bot)
        judge = made(session, study, at)
        ended = worked(session, judge, at)

        assert len(bot.asked) == 5 == ended.calls
    assert (ended.state, ended.why) == (SessionState.FAILING, "question_refused")
    assert {call.error for call in calls(session, judge)} == {"401 bad key"}
    assert said(session, judge) == {}
    assert (ended.prompt_tokens, ended.completion_tokens) == (0, 0)


def test_five_cards_and_no_sixth_are_refused_however_many_calls_are_at_once(
    session: Session, study: Study
) -> None:
    two_runs(session, study)
    with bots.serving(bots.status(401, {"error": {"message": "bad key"}})) as bot:
        at = machines.endpoint(bot)
        judge = made(session, study, at)
        work = JudgeWork(judge.rater_id, at, machines.QUICK)
        begun = sessions.start(session, judge, at, Terms(at_once=3), NOW)
        for at_once in (3, 2):  # of five, three are refused already: two more may be
            calls = [work.claim(session, NOW) for _ in range(at_once)]
            assert work.claim(session, NOW) is Nothing.YET
            for call in calls:
                assert isinstance(call, JudgeCall)
                work.keep(session, call, work.ask(call), NOW)
        assert work.claim(session, NOW) is Nothing.MORE

        assert len(bot.asked) == 5 == sessions.MOST_FAILURES
    assert begun.state == SessionState.FAILING


def test_a_failure_now_and_then_ends_nothing(session: Session, study: Study) -> None:
    queries = [query(position, card(f"c{position}"), text=f"Rumah {position}?")
               for position in range(1, 13)]  # fmt: skip
    stored(session, study, METHOD, *queries)
    refused = bots.status(400, {"error": "?"})
    behaviours = [refused, refused, refused, refused, machines.always("relevant")] * 2
    with bots.serving(*behaviours) as bot:
        judge = made(session, study, machines.endpoint(bot))
        ended = worked(session, judge, machines.endpoint(bot))

    assert ended.state == SessionState.FINISHED
    assert len(said(session, judge)) == 4


def test_the_budget_of_calls_is_never_exceeded(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    ended = worked(session, judge, machines.endpoint(bot), Terms(most_calls=4))

    assert (ended.state, ended.calls, len(bot.asked)) == (SessionState.CAPPED, 4, 4)
    assert len(said(session, judge)) == 4


def test_a_try_counts_as_a_call(session: Session, study: Study) -> None:
    """Two tries of one card use up a budget of two; of three, the second card gets one."""
    two_runs(session, study)
    with bots.serving(bots.status(503, {})) as bot:
        at = machines.endpoint(bot)
        ended = worked(session, made(session, study, at), at, Terms(most_calls=3))

        assert len(bot.asked) == 3
    assert (ended.state, ended.calls) == (SessionState.CAPPED, 3)


def test_the_budget_of_tokens_stops_before_the_call_that_could_exceed_it(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    """320 tokens a call by the endpoint; ours are taken to have about as many."""
    ended = worked(session, judge, machines.endpoint(bot), Terms(most_tokens=1300))

    assert ended.state == SessionState.CAPPED
    assert 0 < ended.prompt_tokens + ended.completion_tokens <= 1300
    assert 0 < len(said(session, judge)) < CARDS


def test_tokens_are_counted_as_stated_and_estimated_where_they_are_not(
    session: Session, study: Study
) -> None:
    two_runs(session, study)
    silent = saying(lambda _prompt: "relevant", None)
    with bots.serving(machines.always("relevant"), silent) as bot:
        at = machines.endpoint(bot)
        judge = made(session, study, at)
        ended = worked(session, judge, at, Terms(most_calls=2))
        prompt = bot.asked[1]["messages"][0]["content"]

    assert ended.uncounted == 1
    assert ended.prompt_tokens == 300 + -(-len(prompt) // 4)
    assert ended.completion_tokens == 20 + 60


def test_the_estimate_is_a_quarter_of_the_characters_until_five_answers_tell_more(
    session: Session, bot: Bot, judge: MachineJudge
) -> None:
    at = machines.endpoint(bot)
    before = prompts.estimate(session, judge)
    worked(session, judge, at, Terms(most_calls=5))
    after = prompts.estimate(session, judge)

    sent = sum(len(one["messages"][0]["content"]) for one in bot.asked)
    assert (before.things, before.completion_tokens, before.measured) == (CARDS, 6 * 60, 0)
    assert before.prompt_tokens == -(-(sent + len(after.example)) // 4)
    assert (after.things, after.completion_tokens, after.measured) == (1, 20, 5)
    assert after.prompt_tokens == -(-len(after.example) * 5 * 300 // sent)
    assert prompts.cost(1_000_000, 100_000, 0.15, 0.6) == pytest.approx(0.21)
    assert prompts.cost(1, 1, None, 0.6) is None
