"""The rest of the demo: further runs, three raters, and files for the other parts of the study."""  # noqa: INP001 (a script's neighbour, no package)

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import evaluated
import people
from listings import MILLION, DemoListing
from questions import QUESTIONS, Question
from verdicts import FINISHED, NEEDS, NOT_RELEVANT, RELEVANT, UNSURE, Need, judge, outcome, quality

from relevansi.importers.runs import property_cards
from relevansi.kinds.property import Card
from relevansi.services.collecting.demo_chatbot import OUTRO
from seeds.making.studies import JUDGED_DEPTH

Run = dict[str, Any]
Catalogue = Mapping[str, DemoListing]

HALF_OPEN = "vector_only_gemini"
BEGUN = 15
"""The owner rated as many questions of the half-open run; the others have not begun it."""
RATERS = ("Sari", "Budi", "Citra")
STRAY = {"Sari": 4, "Budi": 6, "Citra": 7}
"""Of a hundred cards, on how many a rater judges otherwise than what was asked."""
OVERLOOKED = 15
"""Of a hundred cards, on how many a person who judges run by run overlooks what was asked."""
NOTES = {
    ("Budi", "hybrid", 4): "Yang di atas 1,3 M tidak saya hitung sebagai 1M-an.",
    ("Citra", "hybrid", 4): "Sampai 1,5 M masih wajar untuk 1M-an.",
    ("Sari", "hybrid", 19): "CCTV hanya disebut di halaman iklan, tidak di jawaban.",
    ("Citra", "api_only", 9): "Inti kota tidak dipahami sebagai lokasi.",
    ("Budi", "vector_only", 26): "Harga tidak disaring sama sekali.",
    ("Sari", "hybrid_llama", 28): "Jawabannya pendek, tetapi tepat.",
    ("Citra", "hybrid_gemini", 24): "Jaraknya disebut, sangat membantu.",
}
NOBODY_ASKED = "(Invented for the demo: no model was asked.)"
PLACES = {
    "Cemara": (3.6231, 98.6954),
    "Ringroad": (3.5862, 98.6226),
    "Padang Bulan": (3.5600, 98.6560),
    "Krakatau": (3.6190, 98.6760),
    "Marelan": (3.6830, 98.6560),
    "Mabar": (3.6600, 98.6780),
    "Podomoro": (3.5930, 98.6740),
}


def files(runs: Mapping[str, Run], catalogue: Catalogue) -> Iterator[tuple[str, object]]:
    """Yield name and content of every file of the demo that is derived."""
    further = {
        "hybrid_gemini": _by_other_llm(runs["hybrid"], "gemini", 5, 10),
        "hybrid_llama": _by_other_llm(runs["hybrid"], "llama", 3, 6),
        HALF_OPEN: _second_pages(_by_other_llm(runs["vector_only"], "gemini", 7, 6)),
    }
    for name, run in further.items():
        yield f"runs/{name}.json", run
    every = {**runs, **further}
    listings = list(catalogue.values())
    shown = {name: _shown(run, catalogue) for name, run in every.items()}
    yield "ratings.json", [_rated(rater, every, shown, catalogue) for rater in RATERS]
    yield "gold.json", _gold(catalogue)
    yield "decisions.json", {name: _decisions(name, shown[name]) for name in runs}
    yield "machine_answers.json", dict(_machine_answers(shown))
    yield "participants.json", list(people.rows())
    yield "answers.jsonl", list(evaluated.cited_answers(listings))
    yield "chunks.jsonl", list(evaluated.chunks(listings))
    yield "json_answers.json", evaluated.json_answers(listings)


def written(name: str, content: object) -> bytes:
    """Return a file's bytes: a row to a line, so that a change can be read."""

    def row(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    if isinstance(content, list):
        lines = "\n".join(map(row, content)) if name.endswith("l") else _bracketed(content, row)
        return f"{lines}\n".encode()
    assert isinstance(content, dict)
    parts = (
        f"{row(key)}: {_bracketed(value, row) if isinstance(value, list) else row(value)}"
        for key, value in content.items()
    )
    return ("{" + ",\n".join(parts) + "}\n").encode()


def _bracketed(rows: list[Any], row: Any) -> str:
    return "[\n" + ",\n".join(map(row, rows)) + "\n]"


def _draw(*names: object) -> int:
    """Return a number from 0 to 99 that is always the same for these names."""
    return int.from_bytes(sha256("/".join(map(str, names)).encode()).digest()[:4]) % 100


def _by_other_llm(run: Run, llm: str, left_out: int, most: int) -> Run:
    """Return the run as another model might word it: one in `left_out` cards fewer, reordered."""
    answers = []
    for answer in run["results"]:
        blocks = re.split(r"\n\n(?=\d+\. )", answer["response"])
        head, cards = blocks[0], blocks[1:]
        if not answer["success"] or "###" in answer["response"] or not cards:
            answers.append(answer)
            continue
        cards[-1] = cards[-1].split(f"\n\n{OUTRO[:12]}")[0].split("\n\nJika ")[0]
        kept = [card for card in cards if _draw(llm, answer["query_id"], card[3:]) % left_out]
        kept = sorted(kept, key=lambda card: _draw(llm, "order", card[3:]) // 34)[:most]
        numbered = [re.sub(r"^\d+", str(n), card) for n, card in enumerate(kept, start=1)]
        text = "\n\n".join((re.sub(r"\d+", str(len(kept)), head, count=1), *numbered))
        answers.append(_reworded(answer, text, llm))
    stamp = {"gemini": "20260204_091512", "llama": "20260204_101844"}[llm]
    kept_head = {key: value for key, value in run.items() if key != "results"}
    named = {"timestamp": stamp, "thread_id": f"sample_{run['search_method']}_{llm}", "llm": llm}
    return {**kept_head, **named, "results": answers}


def _reworded(answer: Run, text: str, llm: str) -> Run:
    slugs = [card.slug for card in property_cards.parse(text)]
    by_slug = {found["url"].rpartition("/")[2]: found for found in answer["properties"]}
    pace = {"gemini": 0.8, "llama": 1.7}[llm]
    return {
        **answer,
        "response": text,
        "response_length": len(text),
        "results_count": len(slugs),
        "latency_ms": round(answer["latency_ms"] * pace),
        "metadata": {**answer["metadata"], "returned": len(slugs)},
        "properties": [by_slug[slug] for slug in slugs if slug in by_slug],
    }


def _second_pages(run: Run) -> Run:
    """Return the run with cards that nobody saw yet where the owner has not begun to rate."""
    path = Path(__file__).parent / "demo" / "runs" / f"{run['search_method']}_{run['llm']}.json"
    recorded = {one["query_id"]: one for one in json.loads(path.read_text("utf-8"))["results"]}
    answers = []
    for answer in run["results"]:
        if answer["query_id"] <= BEGUN or answer["context_dependent"] or not answer["success"]:
            answers.append(answer)
            continue
        page = recorded[answer["query_id"]]
        beside = {name: page[name] for name in ("properties", "metadata")}
        answers.append(_reworded({**answer, **beside}, page["response"], run["llm"]))
    return {**run, "results": answers}


def _shown(run: Run, catalogue: Catalogue) -> dict[int, list[tuple[Card, DemoListing]]]:
    return {
        answer["query_id"]: [
            (card, catalogue[str(card.slug)]) for card in property_cards.parse(answer["response"])
        ]
        for answer in run["results"]
        if answer["success"]
    }


def _said(rater: str, number: int, listing: DemoListing) -> str:
    """Return a rater's verdict: what was asked, but each has a bent and errs now and then."""
    true = judge(listing, NEEDS[number])
    if rater == "Sari" and number <= FINISHED + 1:
        return true  # as in the sample
    if rater == "Budi" and true == UNSURE:
        return NOT_RELEVANT  # what a card does not say does not count
    strays = _draw(rater, number, listing.slug) < STRAY[rater]
    if rater == "Citra" and true == NOT_RELEVANT:
        return RELEVANT if strays or _nearly(listing, NEEDS[number]) else true
    return {RELEVANT: NOT_RELEVANT, NOT_RELEVANT: RELEVANT}.get(true, true) if strays else true


def _nearly(listing: DemoListing, need: Need) -> bool:
    """Whether a listing is a tenth too dear, and nothing else is wrong with it."""
    if need.highest is None or listing.price > need.highest * MILLION * 1.15:
        return False
    return judge(listing, replace(need, highest=None)) == RELEVANT


def _rated(
    rater: str,
    runs: Mapping[str, Run],
    shown: Mapping[str, Mapping[int, list[tuple[Card, DemoListing]]]],
    catalogue: Catalogue,
) -> dict[str, object]:
    """Return a rater's ratings: by run and question the verdicts, quality, notes, outcome.

    A verdict is a character, "." for a card that has its verdict from an earlier run.
    """
    known: set[object] = set()
    rated: dict[str, dict[int, list[object]]] = {}
    for name in runs:
        if name == HALF_OPEN and rater != RATERS[0]:
            continue
        rated[name] = {}
        for question in QUESTIONS[: BEGUN if name == HALF_OPEN else None]:
            cards = shown[name].get(question.id)
            if cards is None:  # the call failed
                rated[name][question.id] = ["", 0, "", None]
                continue
            verdicts = [_said(rater, question.id, listing) for _, listing in cards]
            places = [_place(question, name, card) for card, _ in cards]
            new = "".join(
                "." if place in known else {UNSURE: "?"}.get(verdict, verdict)
                for place, verdict in zip(places, verdicts, strict=True)
            )
            known.update(places)
            best = quality(verdicts)
            bent = rater != "Sari" and _draw(rater, name, question.id) < 25
            best += (1 if rater == "Citra" else -1) if bent and 1 < best < 5 else 0
            empty = None if cards else outcome(question.id, list(catalogue.values()))
            if empty and rater == "Budi" and question.id == 9:
                empty = "correct_empty"
            note = NOTES.get((rater, name, question.id), "")
            rated[name][question.id] = [new, best, note, empty]
    return {"name": rater, "runs": rated}


def _place(question: Question, run: str, card: Card) -> object:
    """Return a key of what a verdict is on: a follow-up's card belongs to its conversation."""
    return question.id, run if question.context_dependent else "", card


def _gold(catalogue: Catalogue) -> dict[str, object]:
    return {
        "threshold_t": 0.6,
        "questions": [_gold_question(question, catalogue) for question in QUESTIONS],
    }


def _gold_question(question: Question, catalogue: Catalogue) -> dict[str, object]:
    need = NEEDS[question.id]
    exists = any(judge(one, need) == RELEVANT for one in catalogue.values())
    by_hand = bool(need.all_of or need.any_of or need.near)
    return {
        "id": question.id,
        "question": question.text,
        "category": question.category,
        "expected_result": "has_data" if exists else "no_data",
        "evaluation_mode": "manual" if by_hand else "auto",
        "constraints": _constraints(need),
    }


def _constraints(need: Need) -> dict[str, object]:
    stated: dict[str, object] = {}
    if len(need.types) == 1:
        stated["property_type"] = next(iter(need.types))
    if len(need.deals) == 1:
        stated["listing_type"] = next(iter(need.deals))
    areas = sorted(need.areas or need.complexes or ())
    if areas:
        stated["location"] = {"keywords": [area.lower() for area in areas]}
        if areas[0] in PLACES and len(areas) == 1:
            lat, lng = PLACES[areas[0]]
            stated["location"] |= {"lat": lat, "lng": lng, "radius_km": 3}  # type: ignore[operator]
    price = {"min": need.lowest * MILLION or None, "max": (need.highest or 0) * MILLION or None}
    if bounds := {name: bound for name, bound in price.items() if bound}:
        stated["price"] = bounds
    if need.bedrooms:
        stated["bedrooms"] = {"exact": need.bedrooms}
    if need.floors:
        stated["floors"] = {"exact": need.floors}
    return stated


def _decisions(run: str, shown: Mapping[int, list[tuple[Card, DemoListing]]]) -> dict[str, object]:
    """Return the decisions by hand on a run's cards, counted from 0.

    They are made run by run, so a listing may pass in one run and, overlooked, fail in another.
    """
    comments = {RELEVANT: "sesuai halaman iklannya", NOT_RELEVANT: "tidak disebut di iklannya"}
    by_hand: dict[str, dict[str, object]] = {}
    overridden: dict[str, dict[str, object]] = {}
    for number, cards in shown.items():
        need = NEEDS[number]
        said = {str(n): judge(listing, need) for n, (_, listing) in enumerate(cards)}
        missed = {
            str(n)
            for n, (card, _) in enumerate(cards)
            if _draw(run, number, card.slug) < OVERLOOKED
        }
        if need.all_of or need.any_of or need.near:
            by_hand[str(number)] = {
                n: {
                    "result": "pass" if verdict == RELEVANT and n not in missed else "fail",
                    "comment": "tidak terlihat di kartunya"
                    if verdict == RELEVANT and n in missed
                    else comments.get(verdict, ""),
                }
                for n, verdict in said.items()
            }
        elif number == 9:
            overridden["9"] = {n: {"location": "pass"} for n, v in said.items() if v == RELEVANT}
    return {"manual_evaluations": by_hand, "constraint_overrides": overridden}


def _machine_answers(
    shown: Mapping[str, Mapping[int, list[tuple[Card, DemoListing]]]],
) -> Iterator[tuple[str, str]]:
    """Yield a language model's answer by question and listing: right nine times in ten."""
    reasons = {
        RELEVANT: "Jenis, lokasi dan harganya sesuai dengan pertanyaan.",
        NOT_RELEVANT: "Tidak memenuhi salah satu hal yang diminta.",
        UNSURE: "Kartu tidak menyebutkan hal yang diminta.",
    }
    words = {RELEVANT: "relevant", NOT_RELEVANT: "not_relevant", UNSURE: "cannot_tell"}
    found = sorted(
        {
            (number, listing.slug): listing
            for run in shown.values()
            for number, cards in run.items()
            for _, listing in cards
        }.items()
    )
    for (number, slug), listing in found:
        verdict = judge(listing, NEEDS[number])
        if _draw("machine", number, slug) < 10:
            verdict = NOT_RELEVANT if verdict == RELEVANT else RELEVANT
        answer = {"verdict": words[verdict], "reason": reasons[verdict]}
        yield f"{number} {slug}", json.dumps(answer, ensure_ascii=False)


def graded_answers(documents: Path) -> dict[str, str]:
    """Return a language model's answers by question and passage: the grade of the qrels.

    One in four is a grade off, and what people could not grade it cannot tell.
    """
    scale = json.loads((documents / "scale.json").read_text("utf-8"))
    read = (line.split() for line in (documents / "qrels.txt").read_text("utf-8").splitlines())
    qrels = {(query, passage): int(grade) for query, _, passage, grade in read}
    asked = {
        (query, passage)
        for run in sorted((documents / "runs").iterdir())
        for query, _, passage, rank, *_ in map(str.split, run.read_text("utf-8").splitlines())
        if int(rank) <= JUDGED_DEPTH
    }
    answers = {}
    for query, passage in sorted(asked):
        verdict, reason = "cannot_tell", "The text could not be read."
        if (query, passage) in qrels:
            drawn = _draw("machine", query, passage)
            off = (drawn < 12) - (12 <= drawn < 25)
            grade = min(max(qrels[query, passage] + off, 0), scale["top"])
            verdict, reason = str(grade), scale["guidance"][grade]
        answer = {"verdict": verdict, "reason": f"{reason} {NOBODY_ASKED}"}
        answers[f"{int(query[1:])} {passage}"] = json.dumps(answer)
    return answers


def write(into: Path, runs: Mapping[str, Run], catalogue: Catalogue) -> None:
    """Write every derived file of the demo under `into`."""
    for name, content in files(runs, catalogue):
        path = into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written(name, content))
