"""The whole sample study, rated by three people at once in browsers of their own, blind.

Everything that comes out of it is held to computations of other tools, or of this test's
own, on what was typed.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from urllib.parse import quote

import ir_measures
import pytest
from ir_measures import RR
from playwright.sync_api import Browser, Page

from relevansi.metrics.agreement.agreement import Table
from tests.browser.blind import join
from tests.browser.forked import serving
from tests.browser.sample_study import (
    METHODS,
    Answer,
    Item,
    Sample,
    Verdicts,
    figures,
    files,
    majority,
    middle,
    run_figures,
)
from tests.browser.served import PASSWORD, Person, link
from tests.browser.server import Server
from tests.browser.typists import NAMES, Typist
from tests.browser.wire import Wire
from tests.cli.relevansi import document, relevansi
from tests.metrics.agreement.agreement_oracles import irrcac, krippendorff, scikit_learn

pytestmark = pytest.mark.journey

LLMS = ("rahasia-7b", "rahasia-70b", "rahasia-mini")
THANKS = "Semuanya sudah dinilai. Terima kasih."
MOST_SECONDS = 900
REPEATED = 2  # 5 % of the 40 questions and conversations
AS_IT_IS = {"Accept-Encoding": "identity"}
KINDS = (
    ("cards", (0, 1), "nominal"),
    ("empty_lists", (0, 1), "nominal"),
    ("quality", range(6), "ordinal"),
)
PLAIN: dict[str, Any] = {"locale": "id-ID", "extra_http_headers": AS_IT_IS}
SECRETS = (
    *(method.replace("_", "[ _-]?") for method in METHODS),
    *LLMS,
    *("test_results", "sample_", "20260203", "2026-02-03"),
)
"""The words that distinguish the runs in their files, as patterns; the runs' ids are added."""


@dataclass(frozen=True, slots=True)
class Rated:
    """The study once everybody is done: who typed what, and the owner's way in."""

    server: Server
    owner: Person
    run_ids: tuple[str, ...]
    sample: Sample
    typists: Sequence[Typist]
    received: Mapping[str, bytes]

    def get(self, path: str) -> str:
        """Return the page that the owner gets at an address."""
        return self.owner.get(path)

    def rules(self) -> dict[str, tuple[Verdicts, dict[Answer, float]]]:
        """The judgments in force under each rule: verdicts by item, quality by answer."""
        alone = {
            f"rater {typist.name}": (
                typist.verdicts(),
                {a: float(g) for a, g in typist.grades().items()},
            )
            for typist in self.typists
        }
        grades = [typist.grades() for typist in self.typists]
        merged = {answer: middle([grade[answer] for grade in grades]) for answer in grades[0]}
        return {
            **alone,
            "majority": (majority([typist.verdicts() for typist in self.typists]), merged),
        }

    def each(self) -> Iterator[tuple[str, list[Answer], str, Verdicts, Mapping[Answer, float]]]:
        """Every run under every rule: its address, its answers, the rule and what it says."""
        for rule, (verdicts, grades) in self.rules().items():
            for run, run_id in enumerate(self.run_ids):
                yield f"/runs/{run_id}", self.sample.of_run(run), rule, verdicts, grades


@pytest.fixture(name="rated", scope="module")
def _rated(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rated]:
    """Three runs, three people, everything typed: as fast as the pages confirm."""
    sample = Sample()
    with serving(tmp_path_factory.mktemp("whole") / "instance") as server:
        run_ids, owner = tuple(_imported(server)), Person(server.url)
        owner.post("/sign-in/first", password=PASSWORD, again=PASSWORD)
        typists, received = _rated_by_all(browser, server, owner, sample)
        yield Rated(server, owner, run_ids, sample, typists, received)


def _rated_by_all(
    browser: Browser, server: Server, owner: Person, sample: Sample
) -> tuple[Sequence[Typist], Mapping[str, bytes]]:
    """Let everybody rate, each by a wire of their own; returns them and what the wires carried."""
    complaints: list[str] = []
    with ExitStack() as stack:
        wires = {name: stack.enter_context(closing(Wire(server.port))) for name in NAMES}
        typists = []
        for name, wire in wires.items():
            page = stack.enter_context(browser.new_context(**PLAIN)).new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            join(page, wire.url + link(owner, name))
            typists.append(Typist(name, page, sample))
        _rate(typists)
        for typist in typists:
            _look_around(typist.page, wires[typist.name].url)
        assert complaints == []
        return typists, {name: wire.received() for name, wire in wires.items()}


def _imported(server: Server) -> Iterator[str]:
    for path, llm in zip(files(), LLMS, strict=True):
        printed = document(relevansi(server.instance, "import", path, "--llm", llm, "--json"))
        yield printed["runs"][0]["id"]


def _rate(typists: Sequence[Typist]) -> None:
    """Give everybody their turns until nobody is asked anything any more."""
    until = time.monotonic() + MOST_SECONDS
    while sum(typist.turn() for typist in typists):
        assert time.monotonic() < until, [typist.page.url for typist in typists]


def _look_around(page: Page, url: str) -> None:
    """Open whatever a rater may open, and knock where they may not; take the own log away."""
    for path in ("/", "/rate/", "/history/", "/runs/", "/agreement", "/study/", "/nothing-there"):
        page.goto(url + path)
    page.goto(f"{url}/history/?change=quality")
    logs = [
        page.context.request.get(f"{url}/history/events.{name}", headers=AS_IT_IS).text()
        for name in ("csv", "jsonl")
    ]
    for event in map(json.loads, logs[1].splitlines()):
        assert event["answer"] in {None, *"ABC"}  # no number, which would follow the runs


def test_every_distinct_thing_is_asked_of_each_rater_once(rated: Rated) -> None:
    """Each property once for all runs that show it, changed ones again, empty lists together.

    And the quality of every answer, of empty ones and of the failed call too. Every changed one
    that is still open says the earlier verdict, however fast one types.
    """
    items, answers = rated.sample.items, rated.sample.answers
    changed = sum(bool(item.version) for item in items)
    assert changed
    for typist in rated.typists:
        first = [key.about for key in typist.keys if not key.again]
        assert len(first) == len(set(first)) == len(items) + len(answers), typist.name
        assert set(first) == items | set(answers)
        assert len(typist.remarked) == changed


def test_the_study_says_what_pooling_saved(rated: Rated) -> None:
    cards = sum(len(answer.items) for answer in rated.sample.answers)
    distinct = sum(1 for item in rated.sample.items if item.identity)
    assert distinct < cards
    page = rated.get("/study/standing")
    assert f"{cards} cards shown, {distinct} to judge." in page
    assert f"saves each rater {cards - distinct} verdicts" in page


def test_every_key_is_one_event_in_the_order_of_typing(rated: Rated) -> None:
    """The log that the owner takes away says what was typed, no more and no less."""
    lines = rated.get("/history/events.jsonl").splitlines()
    events = [json.loads(line) for line in lines]
    assert len({event["event_id"] for event in events}) == len(events)
    for typist in rated.typists:
        typed = [event for event in events if event["rater"] == typist.name]
        typed.sort(key=lambda event: event["sequence"])
        assert [event["new"] for event in typed] == [key.says for key in typist.keys]
        assert len({event["device"] for event in typed}) == 1
    assert len(events) == sum(len(typist.keys) for typist in rated.typists)


def test_figures_are_those_of_what_was_typed(rated: Rated) -> None:
    """Per answer and per run, for each rater and for the majority."""
    for address, answers, rule, verdicts, grades in rated.each():
        decoded = json.loads(rated.get(f"{address}/metrics.json?rule={quote(rule)}"))
        for row, answer in zip(decoded["queries"], answers, strict=True):
            expected = figures(answer, verdicts)
            place = (rule, address, answer.question)
            assert row["complete"] == expected.complete, place
            assert row["precision_at_5"] == to_four(expected.precision_at_5), place
            assert row["overall_precision"] == to_four(expected.overall_precision), place
            assert row["mrr"] == to_four(expected.reciprocal_rank), place
            assert row["success"] == expected.success, place
            assert row["response_quality"] == grades.get(answer), place
        values = {name: figure["value"] for name, figure in decoded["figures"].items()}
        for name, value in run_figures(answers, verdicts, grades).items():
            assert values[name] == to_four(value), (rule, address, name)


def test_the_rated_csv_says_the_same_to_four_decimals(rated: Rated) -> None:
    """Undefined and open are blank, and an empty list has MRR 0, as the original wrote it."""
    for address, answers, rule, verdicts, grades in rated.each():
        text = rated.get(f"{address}/export.csv?rule={quote(rule)}")
        for row, answer in zip(csv.DictReader(io.StringIO(text)), answers, strict=True):
            expected = figures(answer, verdicts)
            assert row["precision_at_5"] == four(expected.precision_at_5), (rule, row)
            assert row["overall_precision"] == four(expected.overall_precision), (rule, row)
            rank = "0" if answer.empty and expected.complete else four(expected.reciprocal_rank)
            assert row["mrr"] == rank, (rule, row)
            success = "" if expected.success is None else str(expected.success)
            assert row["success"] == success, (rule, row)
            assert _number(row["response_quality"]) == grades.get(answer), (rule, row)


def test_the_command_line_exports_what_the_page_does(rated: Rated) -> None:
    for run_id, rule in zip(rated.run_ids, ("--rater=Ani", "--rule=majority", ""), strict=True):
        command = ["export", run_id, *([rule] if rule else [])]
        process = relevansi(rated.server.instance, *command)
        name = "rater Ani" if rule == "--rater=Ani" else "majority"
        page = rated.get(f"/runs/{run_id}/export.csv?rule={quote(name)}")
        assert (process.stdout, process.returncode) == (page, 0), process.stderr


def test_verdicts_come_out_at_every_rank_where_their_property_stands(rated: Rated) -> None:
    """In the JSON and in the long CSV, with the grades and the outcomes of empty lists."""
    for address, answers, rule, verdicts, grades in rated.each():
        decoded = json.loads(rated.get(f"{address}/export.json?rule={quote(rule)}"))
        text = rated.get(f"{address}/judgments.csv?rule={quote(rule)}")
        lines = iter(csv.DictReader(io.StringIO(text)))
        for query, answer in zip(decoded["queries"], answers, strict=True):
            expected = [verdicts.get(item) for item in answer.items]
            assert [_verdict(result["relevance"]) for result in query["results"]] == expected, rule
            assert [next(lines)["relevance"] or None for _ in expected] == expected, rule
            assert query["quality"] == grades.get(answer), rule
            outcome = verdicts.get(answer.empty) if answer.empty else None
            assert query["empty_outcome"] == outcome
            if answer.empty:
                assert next(lines)["relevance"] == outcome
        assert next(lines, None) is None


def test_ir_measures_finds_the_same_reciprocal_ranks_in_the_trec_files(rated: Rated) -> None:
    for address, answers, rule, verdicts, _ in rated.each():
        qrels, run = (
            rated.get(f"{address}/{name}.txt?rule={quote(rule)}") for name in ("qrels", "run")
        )
        result = ir_measures.iter_calc(
            [RR],
            list(ir_measures.read_trec_qrels(qrels)),  # type: ignore[no-untyped-call]
            list(ir_measures.read_trec_run(run)),  # type: ignore[no-untyped-call]
        )
        measured = {int(value.query_id): value.value for value in result}
        for answer in answers:
            expected = figures(answer, verdicts)
            if answer.question in measured and expected.complete:
                assert measured[answer.question] == near(expected.reciprocal_rank), (rule, answer)
        decided = [a for a in answers if any(verdicts.get(item) in {"1", "0"} for item in a.items)]
        assert set(measured) == {answer.question for answer in decided}


def test_agreement_is_what_other_tools_find_in_what_was_typed(rated: Rated) -> None:
    """Alpha by krippendorff, kappas by scikit-learn, the rest by irrCAC."""
    decoded = json.loads(rated.get("/agreement.json"))
    for kind, values, scale in KINDS:
        by_rater = [typist.labels(kind) for typist in rated.typists]
        table = [[labels[about] for labels in by_rater] for about in by_rater[0]]
        _expect_agreement(decoded[kind], table, values, scale)


def test_agreement_in_a_category_is_that_of_its_cards(rated: Rated) -> None:
    result = json.loads(rated.get("/agreement.json"))["cards"]["categories"]
    category = {answer.question: answer.category for answer in rated.sample.answers}
    by_rater = [typist.labels("cards") for typist in rated.typists]
    assert set(result) == set(category.values())
    for name, entry in result.items():
        items = [item for item in by_rater[0] if category[item.question] == name]
        table = [[labels[item] for labels in by_rater] for item in items]
        assert entry["n_items"] == len(table)
        assert entry["krippendorff_alpha"]["value"] == near(krippendorff(table, "nominal")), name


def test_raters_agree_with_themselves_as_they_typed(rated: Rated) -> None:
    """Hidden repeats: two questions in forty, whole, and never the verdict that counts."""
    result = json.loads(rated.get("/agreement.json"))["repeats"]
    for typist in rated.typists:
        assert len({_unit(key.about) for key in typist.keys if key.again}) == REPEATED
        for kind, first, second in typist.twice():
            pairs = [(first[about], second[about]) for about in second]
            same = [label == repeat for label, repeat in pairs if None not in (label, repeat)]
            (entry,) = (row for row in result if (row["rater"], row["kind"]) == (typist.name, kind))
            assert (entry["asked"], entry["answered"]) == (len(pairs), len(pairs)), kind
            assert entry["raw"]["n"] == len(same), kind
            assert entry["raw"]["value"] == near(sum(same) / len(same)), kind


def test_the_check_says_equal(rated: Rated) -> None:
    process = relevansi(rated.server.instance, "check")
    assert (process.returncode, process.stdout[:5]) == (0, "Equal"), process.stdout


def test_no_byte_a_blind_rater_receives_names_a_run(rated: Rated) -> None:
    """Pages, parts, scripts, styles, headers, downloads, refusals: all that came by the wire."""
    secrets = re.compile("|".join((*SECRETS, *rated.run_ids)).encode(), re.IGNORECASE)
    for run_id in rated.run_ids:
        page = rated.get(f"/runs/{run_id}").encode()
        assert len(set(secrets.findall(page))) > 2  # it can be found
    for name, received in rated.received.items():
        assert name.encode() in received
        assert THANKS.encode() in received
        assert b"\r\nContent-Encoding:" not in received
        result = [
            received[max(0, at.start() - 80) : at.end() + 40] for at in secrets.finditer(received)
        ]
        assert result == [], (name, len(result))


def _expect_agreement(
    report: Mapping[str, Any], table: Table, labels: Sequence[int], scale: str
) -> None:
    overall = {name: figure["value"] for name, figure in report["overall"].items()}
    assert report["n_items"] == len(table)
    assert overall["krippendorff_alpha"] == near(krippendorff(table, scale))
    assert overall["fleiss_kappa"] == near(irrcac("fleiss", table, labels))
    assert overall["gwet_ac1"] == near(irrcac("gwet", table, labels))
    assert overall["raw"] == near(irrcac("pa", table, labels))
    for pair, columns in zip(report["pairs"], combinations(range(3), 2), strict=True):
        assert pair["raters"] == [NAMES[column] for column in columns]
        two = [[row[column] for column in columns] for row in table]
        assert pair["cohen_kappa"]["value"] == near(scikit_learn(two))
        assert pair["krippendorff_alpha"]["value"] == near(krippendorff(two, scale))


def near(value: float | None) -> Any:
    """Equal to nine decimals; ``None`` is equal to nothing else."""
    return None if value is None or math.isnan(value) else pytest.approx(value, abs=1e-9)


def to_four(value: float | None) -> Any:
    """Equal to four decimals, as JSON files have figures; ``None`` is equal to nothing else."""
    return None if value is None or math.isnan(value) else pytest.approx(value, abs=5.1e-5)


def four(value: float | None) -> str:
    """As the rated CSV writes a figure."""
    return "" if value is None else f"{value:.4f}"


def _unit(about: Item | Answer) -> tuple[int, int | None]:
    """The question, and its run where it depends on its conversation; no failed call's does."""
    item = about if isinstance(about, Item) else (*about.items, about.empty)[0]
    return about.question, item.run if item else None


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def _verdict(relevance: str | int | None) -> str | None:
    return None if relevance is None else str(relevance)
