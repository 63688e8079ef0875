"""Judged results as the files of other tools: TREC, BEIR, search engines, Phoenix, Quepid.

A property listed twice in one answer is two documents, the second ending in ``#2``: lists of TREC
hold no document twice. On its files the reciprocal rank of ``ir_measures`` or ``trec_eval`` is this
product's. Their ``P@5`` is `P@5 (trec_eval)` here; times 5 / min(n, 5) it is P@5, as long as
nothing is "cannot tell".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from relevansi import labels, notation
from relevansi.exporters.exports.judging_sentences import (
    blindness_sentence,
    pace_sentence,
    unsampled_sentence,
)
from relevansi.exporters.frame.csv_cells import csv_bytes
from relevansi.exporters.frame.json_files import JsonValue, fields
from relevansi.exporters.frame.tables import escaped
from relevansi.i18n import gettext, language, ngettext
from relevansi.kinds.document import Document
from relevansi.metrics.agreement.report import COEFFICIENTS, KindAgreement, coefficients
from relevansi.metrics.judging.figures import RunReport
from relevansi.records import Number, Scale

_UNSAFE = re.compile(r"[\s\x00]")


class JudgedResult(Struct, frozen=True):
    """One item of a list with its verdict, or another item that was judged for the question.

    ``query_id`` is the question's own id in its owner's files, else its number; ``docno`` names
    the item. ``rank`` is from 1, ``None`` for an item that is not in the list, ``is_below`` for one
    below the ranks that are judged. ``repetition`` is 1 at the item's first place in the list, 2
    at the next. ``is_pooled``: it is to be judged. ``position`` (from 0) is that of the list as
    imported, ``span_id`` and ``index`` say where the list came from. ``is_emptiness``: it stands
    for an empty list, and names no item. ``reason`` says why the item is not relevant.
    """

    query_id: str
    rank: int | None
    docno: str
    verdict: Number = None
    repetition: int = 1
    question: str = ""
    document: Document | None = None
    identity: str = ""
    content: int = 1
    title: str = ""
    judged_item_id: int = 0
    is_below: bool = False
    is_pooled: bool = True
    position: int | None = None
    span_id: str = ""
    index: str = ""
    is_emptiness: bool = False
    reason: str = ""


def one_word(text: str) -> str:
    """`text` without blanks, which become ``%20``."""
    return _UNSAFE.sub(lambda match: quote(match[0], safe=""), text)


def document(result: JudgedResult) -> str:
    """The item of `result` in one word, a repetition marked: a list holds no document twice.

    >>> document(JudgedResult("1", 3, "title:rumah cemara/1", repetition=2))
    'title:rumah%20cemara/1#2'
    """
    name = one_word(result.docno)
    return name if result.repetition == 1 else f"{name}#{result.repetition}"


def graded(results: Iterable[JudgedResult]) -> Iterator[tuple[JudgedResult, int]]:
    """Yield each item that has a grade, once for its question, with the grade."""
    for result in results:
        if isinstance(result.verdict, int) and result.repetition == 1:
            yield result, result.verdict


def qrels(
    results: Iterable[JudgedResult], *, unjudged: bool = False
) -> tuple[str, tuple[str, ...]]:
    """The judgments, ``query 0 document grade`` per line.

    An item that is listed again is there once: its repetition has no gain, and no line. "Cannot
    tell" and unjudged results are left out, and the notes beside the text count them.
    With `unjudged` they have the grade -1, as infAP reads what was pooled and not judged.
    """
    listed = list(results)
    lines = []
    for result in listed:
        grade = result.verdict if isinstance(result.verdict, int) else -1
        is_judged = grade >= 0 or (unjudged and result.is_pooled)
        if is_judged and result.repetition == 1:
            lines.append(f"{one_word(result.query_id)} 0 {document(result)} {grade}\n")
    return "".join(dict.fromkeys(lines)), () if unjudged else tuple(_left_out(listed))


def run_file(results: Iterable[JudgedResult], *, tag: str) -> str:
    """The ranked lists, ``query Q0 document rank score tag`` per line.

    The score falls by one from rank to rank and ends at 1, since tools sort by it and not
    by the rank. A question with an empty list has no line, as the form has none for it.
    """
    ranked = [(result, result.rank) for result in results if result.rank is not None]
    # Lists are in rank order, so that the last rank of each is what remains here.
    last_ranks = {result.query_id: rank for result, rank in ranked}
    lines = []
    for result, rank in ranked:
        score = last_ranks[result.query_id] + 1 - rank
        listed = f"{one_word(result.query_id)} Q0 {document(result)} {rank} {score}"
        lines.append(f"{listed} {one_word(tag)}\n")
    return "".join(lines)


def _left_out(results: Iterable[JudgedResult]) -> Iterator[str]:
    """Yield how many pooled results the qrels leave out, and what tools make of that."""
    counts = Counter(result.verdict for result in results if result.is_pooled and result.rank)
    if unsure := counts["unsure"]:
        yield ngettext(
            "%(n)s result is left out of the qrels: cannot tell.",
            "%(n)s results are left out of the qrels: cannot tell.",
            unsure,
        )
    if unjudged := counts[None]:
        yield ngettext(
            "%(n)s result is left out of the qrels: not judged yet.",
            "%(n)s results are left out of the qrels: not judged yet.",
            unjudged,
        )
    if unsure or unjudged:
        yield gettext("Evaluation tools count what is left out as not relevant.")


def beir(results: Iterable[JudgedResult], card: str) -> dict[str, bytes]:
    """The files of a BEIR folder by name: items, questions, grades, and the dataset `card`."""
    listed = list(results)
    # Systems may have cut a document: the corpus gets the longest text of each.
    texts: dict[str, Document] = {}
    for result in listed:
        longest = texts.get(one_word(result.docno))
        if result.document and (longest is None or len(longest.text) < len(result.document.text)):
            texts[one_word(result.docno)] = result.document
    queries = dict.fromkeys((one_word(result.query_id), result.question) for result in listed)
    lines = (
        f"{one_word(result.query_id)}\t{one_word(result.docno)}\t{grade}\n"
        for result, grade in graded(listed)
    )
    return {
        "README.md": card.encode(),
        "corpus.jsonl": _json_lines(
            {
                "_id": name,
                **fields(document, "title", "text"),
                "metadata": {**document.meta, **({"url": document.url} if document.url else {})},
            }
            for name, document in texts.items()
        ),
        "queries.jsonl": _json_lines({"_id": key, "text": text} for key, text in queries),
        "qrels/test.tsv": "".join(["query-id\tcorpus-id\tscore\n", *lines]).encode(),
    }


IN_CARD = ("raw", "quadratic_kappa", "krippendorff_alpha")
"""The coefficients of agreement that a card states."""


def dataset_card(
    report: RunReport,
    *,
    title: str,
    guidelines: str,
    agreement: KindAgreement,
    results: Sequence[JudgedResult],
) -> str:
    """Return the card in the language in force; the licence is for the owner to fill in."""
    counts = Counter(grade for _, grade in graded(results))
    unsure = sum(result.verdict == "unsure" for result in results)
    items = {result.docno for result in results if result.document}
    how = blindness_sentence(report.blindness), pace_sentence(report.seconds)
    digest = sha256(guidelines.encode()).hexdigest()[:16]
    facts = {
        gettext("Questions"): notation.number(len(report.rows)),
        gettext("Items"): notation.number(len(items)),
        gettext("Judgments"): notation.number(counts.total()),
        gettext("Cannot tell"): gettext("%(n)s, left out", n=notation.number(unsure)),
        gettext("Scale"): "; ".join(_grades(report, counts)),
        gettext("Relevant"): gettext("from grade %(grade)s", grade=report.scale.relevant_from),
        gettext("Raters"): ", ".join(agreement.raters) or "-",
        gettext("Rule"): labels.rule(report.rule),
        gettext("How it was judged"): " ".join(filter(None, how)) or "-",
        gettext("Agreement"): "; ".join(_agreement(agreement)),
        gettext("Version of the guidelines"): f"SHA-256 {digest}" if guidelines else "-",
        gettext("Licence"): gettext("not stated: to be filled in before this is passed on"),
    }
    lines = [
        *("---", f"language: {language()}", "license: unknown", "task_categories:"),
        *("- text-retrieval", "---", "", f"# {escaped(title)}", ""),
        *(f"- **{name}**: {escaped(text)}" for name, text in facts.items()),
        *(f"- {escaped(text)}" for text in unsampled_sentence(report.unasked)),
        "",
        gettext(
            "`corpus.jsonl` has the items, `queries.jsonl` the questions, and `qrels/test.tsv` the "
            "grades: the layout of BEIR."
        ),
    ]
    return "\n".join(lines) + "\n"


def _grades(report: RunReport, counts: Counter[int]) -> Iterator[str]:
    scale = report.scale
    for grade in range(scale.top + 1):
        word = f" ({scale.words[grade]})" if scale.words else ""
        guidance = f", {scale.guidance[grade]}" if scale.guidance else ""
        yield f"{grade}{word}{guidance}: {notation.number(counts[grade])}"


def _agreement(agreement: KindAgreement) -> Iterator[str]:
    figures = coefficients(agreement.overall)
    for name in IN_CARD:
        if figure := figures.get(name):
            value = notation.figure(figure.value, COEFFICIENTS[name].unit)
            yield f"{gettext(COEFFICIENTS[name].label)} {value} (n = {notation.number(figure.n)})"


def search_relevance(results: Iterable[JudgedResult], *, name: str, description: str) -> bytes:
    """An import of judgments for the Search Relevance Workbench of OpenSearch."""
    ratings: dict[str, list[JsonValue]] = {}
    for result, grade in graded(results):
        rating: JsonValue = {"docId": result.docno, "rating": f"{grade}.000"}
        ratings.setdefault(result.question, []).append(rating)
    listed: JsonValue = [{"query": text, "ratings": grades} for text, grades in ratings.items()]
    head = {"name": name, "description": description, "type": "IMPORT_JUDGMENT"}
    return _json({**head, "judgmentRatings": listed})


def phoenix(
    results: Iterable[JudgedResult], *, rater: str, scale: Scale, is_machine: bool = False
) -> bytes:
    """Annotations of the documents of spans for Phoenix; the score is the grade by the highest.

    "Cannot tell" is an annotation with a label and without a score. Phoenix refuses identifiers of
    such annotations: each document of a span has one by this name, which a later one replaces.
    """
    data: list[JsonValue] = []
    for result in results:
        if result.verdict is None or not result.span_id or result.position is None:
            continue
        annotation: dict[str, JsonValue] = {"label": grade_word(result.verdict, scale)}
        if isinstance(result.verdict, int):
            annotation["score"] = result.verdict / scale.top
        data.append(
            {
                "name": "relevance",
                "annotator_kind": "LLM" if is_machine else "HUMAN",
                "span_id": result.span_id,
                "document_position": result.position,
                "result": annotation,
                "metadata": {"rater": rater},
            }
        )
    return _json({"data": data})


def rank_eval(results: Iterable[JudgedResult], *, index: str, relevant_from: int) -> bytes:
    """A request to _rank_eval of Elasticsearch or OpenSearch, with the grades as its ratings.

    Each item is of the index that it came from, else of `index`. The query of each request is to
    be replaced by its owner's.
    """
    requests: dict[str, dict[str, Any]] = {}
    for result, grade in graded(results):
        query = {"query": {"simple_query_string": {"query": result.question}}}
        empty = {"id": result.query_id, "request": query, "ratings": []}
        rating = {"_index": result.index or index, "_id": result.docno, "rating": grade}
        requests.setdefault(result.query_id, empty)["ratings"].append(rating)
    precision: JsonValue = {"k": 10, "relevant_rating_threshold": relevant_from}
    return _json({"requests": [*requests.values()], "metric": {"precision": precision}})


def quepid(results: Iterable[JudgedResult]) -> bytes:
    """Ratings for a case of Quepid: query, docid, rating."""
    rows = ((result.question, result.docno, grade) for result, grade in graded(results))
    return csv_bytes([("query", "docid", "rating"), *rows])


def quepid_book(by_rater: Mapping[str, Sequence[JudgedResult]]) -> bytes:
    """Judgments of a book of Quepid: query, docid, and the ratings of each rater in a column."""
    ratings: dict[tuple[str, str], dict[str, int]] = {}
    for rater, results in by_rater.items():
        for result, grade in graded(results):
            ratings.setdefault((result.question, result.docno), {})[rater] = grade
    rows = []
    for (question, docid), grades in ratings.items():
        rows.append((question, docid, *(grades.get(rater) for rater in by_rater)))
    return csv_bytes([("query", "docid", *by_rater), *rows])


def grade_word(verdict: Number, scale: Scale) -> str:
    """What a verdict means by the words of its scale; blank while there is none.

    >>> grade_word(1, Scale(words=("no", "yes"))), grade_word(2, Scale(top=2))
    ('yes', '2')
    """
    if not isinstance(verdict, int):
        return "cannot tell" if verdict else ""
    return scale.words[verdict] if scale.words else str(verdict)


def _json(value: JsonValue) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def _json_lines(values: Iterable[JsonValue]) -> bytes:
    return "".join(f"{json.dumps(value, ensure_ascii=False)}\n" for value in values).encode()
