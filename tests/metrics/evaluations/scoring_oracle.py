"""A second way to the figures of answers, chunks and JSON answers: loops over characters and lists.

Written from the method alone, with nothing of ``relevansi.metrics`` and none of its means:
no regular expressions, no sets of words, no fractions.
"""

from __future__ import annotations

import itertools
import json
from typing import Any

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
IDK = ["i don't know", "i dont know", "tidak tahu", "saya tidak tahu"]

# --- Answers ---------------------------------------------------------------------------


def citation_at(text: str, place: int) -> int:
    """Where the citation that begins at `place` ends; -1 when none does."""
    if not text.startswith("[CIT:", place):
        return -1
    end = place + 5
    while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
        end += 1
    closed = end > place + 5 and end < len(text) and text[end] == "]"
    return end + 1 if closed else -1


def split(answer: str) -> list[str]:
    """The sentences, read character by character."""
    result, start, place = [], 0, 0
    while place < len(answer):
        if answer[place] not in ".!?":
            place += 1
            continue
        end = place + 1
        cited = False
        while True:
            ahead = end
            while ahead < len(answer) and answer[ahead].isspace():
                ahead += 1
            behind = citation_at(answer, ahead)
            if behind < 0:
                break
            end, cited = behind, True
        if cited:
            while end < len(answer) and answer[end] in ".!?":
                end += 1
        elif end < len(answer) and not answer[end].isspace():
            place += 1
            continue
        result.append(answer[start:end])
        start = place = end
    result.append(answer[start:])
    return [piece.strip() for piece in result if any(c.isalnum() for c in piece)]


def cited(sentence: str) -> tuple[str, list[str]]:
    """The sentence without its citations, and their ids."""
    text, ids, place = "", [], 0
    while place < len(sentence):
        end = citation_at(sentence, place)
        if end < 0:
            text += sentence[place]
            place += 1
        else:
            ids.append(sentence[place + 5 : end - 1])
            place = end
    return text.strip(), ids


def uncited(text: str) -> str:
    """The text with a blank for every citation."""
    plain, place = "", 0
    while place < len(text):
        end = citation_at(text, place)
        plain += text[place] if end < 0 else " "
        place = place + 1 if end < 0 else end
    return plain


def does_not_know(sentence: str) -> bool:
    words = " ".join(cited(sentence)[0].replace("\u2019", "'").lower().split())
    while words and words[-1] in ".!? ":
        words = words[:-1]
    return words in IDK


def answer(row: dict[str, Any], tau_sim: float) -> dict[str, Any]:
    """The item of one row whose cosines stand in it."""
    pieces = split(row["answer"])
    claims = [piece for piece in pieces if not does_not_know(piece)]
    context_ids = [context["id"] for context in row["contexts"]]
    supported = 0
    for claim, cosine in zip(claims, row["claim_similarities"], strict=True):
        ids = cited(claim)[1]
        if len(ids) == 1 and ids[0] in context_ids and not cosine < tau_sim:
            supported += 1
    overlap = supported / len(claims) if claims else 0.0
    em, f1 = agreement(uncited(row["answer"]), row["gold"])
    tokens = 0
    for call in row["usage"]:
        tokens = tokens + call["prompt_tokens"] + call["completion_tokens"]
    return {
        "sentences": len(pieces),
        "claim_sentences": len(claims),
        "supported": supported,
        "overlap": overlap,
        "faithfulness": 0.6 + 0.4 * overlap if overlap < 1 else 1.0,
        "em": em,
        "f1": f1,
        "abstain": row.get("action") == "ABSTAIN" or (len(pieces) > 0 and len(claims) == 0),
        "total_tokens": tokens,
        "latency_ms": row["latency_ms"],
        "idk_with_citation": len([p for p in pieces if does_not_know(p) and cited(p)[1]]),
    }


def words(text: str) -> list[str]:
    plain = "".join(c for c in text.lower() if c not in PUNCTUATION)
    return [word for word in plain.split() if word not in ("a", "an", "the")]


def agreement(answer_text: str, gold: str | None) -> tuple[int | None, float | None]:
    """EM and F1 by crossing words off one by one."""
    if gold is None:
        return None, None
    ours, theirs = words(answer_text), words(uncited(gold))
    if not ours or not theirs:
        both = float(not ours and not theirs)
        return int(both), both
    remaining, common = list(theirs), 0
    for word in ours:
        if word in remaining:
            remaining.remove(word)
            common += 1
    if common == 0:
        return 0, 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return int(ours == theirs), 2 * precision * recall / (precision + recall)


# --- Chunks ----------------------------------------------------------------------------


def distinct(text: str) -> list[str]:
    result: list[str] = []
    for word in text.split():
        if word not in result:
            result.append(word)
    return result


def chunks(expected: str, retrieved: list[str]) -> dict[str, float]:
    ours, theirs = distinct(" ".join(retrieved)), distinct(expected)
    common = len([word for word in ours if word in theirs])
    either = len(ours) + len(theirs) - common
    iou = common / either if either else 0.0
    recall = common / len(theirs) if theirs else 0.0
    precision = common / len(ours) if ours else 0.0
    together = precision + recall
    return {
        "iou": iou,
        "recall": recall,
        "precision": precision,
        "precision_omega": (precision * iou + precision * recall) / 2,
        "f1": 2 * precision * recall / together if together else 0.0,
    }


# --- JSON answers ----------------------------------------------------------------------


def alike(a: object, b: object) -> bool:
    if not isinstance(a, str) or not isinstance(b, str):
        return False
    first = "".join(c for c in a if not c.isspace())
    second = "".join(c for c in b if not c.isspace())
    if not first or not second:
        return False
    if first in second or second in first:
        return True
    ours = distinct(" ".join(f"{x}{y}" for x, y in itertools.pairwise(first)))
    theirs = distinct(" ".join(f"{x}{y}" for x, y in itertools.pairwise(second)))
    common = len([pair for pair in ours if pair in theirs])
    either = len(ours) + len(theirs) - common
    return either > 0 and 100 * common >= 72 * either


def list_f1(expected: list[Any], output: list[Any], most: int) -> float:
    output = output[:most]
    if not expected and not output:
        return 1.0
    free = list(range(len(output)))
    pairs = 0
    for item in expected:
        for position in free:
            if alike(item, output[position]):
                free.remove(position)
                pairs += 1
                break
    if pairs == 0:
        return 0.0
    recall, precision = pairs / len(expected), pairs / len(output)
    return 2 * precision * recall / (precision + recall)


def keywords(text: str) -> list[str]:
    result, token, chinese = [], "", []
    for c in text + "\0":
        if c in LETTERS or c in DIGITS or (token and c in "._-"):
            token += c
        else:
            if len(token) >= 3:
                result.append(token.lower())
            token = ""
    for first, second in itertools.pairwise(text):
        if "\u4e00" <= first <= "\u9fff" and "\u4e00" <= second <= "\u9fff":
            chinese.append(first + second)
    ordered: list[str] = []
    for word in [*result, *chinese]:
        if word not in ordered:
            ordered.append(word)
    return ordered


def evidence(expected: str, output: str) -> float:
    hits = len([word for word in keywords(expected)[:30] if word in keywords(output)])
    length = len(output.strip())
    return (min(8, hits)) / 8 * (min(40, length)) / 40


def grounding(source_map: list[Any], contexts: list[dict[str, str]]) -> float:
    total = good = 0
    text = "\n".join(context["text"] for context in contexts)
    for entry in source_map[:12]:
        for ref in entry["refs"][:6]:
            total += 1
            is_context = any(ref["file"] == context["source_path"] for context in contexts)
            result = any(anchor.strip() and anchor in text for anchor in ref["anchors"][:6])
            good += is_context and result
    return good / total if total else 0.0


def is_dash(value: object) -> bool:
    """Whether `value` writes that nothing is expected, as far as the tests write it so."""
    return isinstance(value, str) and value.strip() in ("-", "--")


def json_answer(item: dict[str, Any]) -> dict[str, float]:
    """The parts and the score of one item whose output is in order."""
    decoded = json.loads(item["output"])
    expected: dict[str, Any] = {
        name: [entry for entry in value if not is_dash(entry)]
        if isinstance(value, list)
        else ("" if is_dash(value) else value)
        for name, value in item["expected"]["answer_example"].items()
    }
    parts = {
        name: float(alike(expected[name], decoded[name]))
        for name in ("target_audience", "main_topic", "sub_topic")
    }
    parts["detailed_description"] = list_f1(
        expected["detailed_description"], decoded["detailed_description"], 12
    )
    parts["original_evidence"] = evidence(
        expected["original_evidence"], decoded["original_evidence"]
    )
    parts["predicted_questions"] = list_f1(
        expected["predicted_questions"], decoded["predicted_questions"], 10
    )
    parts["grounding"] = grounding(decoded["source_map"], item["context"])
    weights = (10, 10, 10, 30, 20, 10, 10)
    score = sum(w * part for w, part in zip(weights, parts.values(), strict=True))
    return {"score": score, **parts}
