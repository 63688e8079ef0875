"""JSON answers against the expected ones: a score from 0 to 100 made of seven parts.

All parts are exact fractions. An output that is not an object of the seven fields scores 0 with a
reason (``SchemaFailure``), and counts in every mean.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from hashlib import sha1
from typing import Any

from msgspec import Struct, field

from relevansi.failures import Refused
from relevansi.i18n import mark
from relevansi.metrics.evaluations.similarity import Coverage, Likeness, cover, likeness

CLASSES = ("target_audience", "main_topic", "sub_topic")
LISTS = ("detailed_description", "predicted_questions", "source_map")
FIELDS = (
    *CLASSES,
    "detailed_description",
    "original_evidence",
    "source_map",
    "predicted_questions",
)
"""The seven fields of an output."""

MAX_ITEMS = {"detailed_description": 8, "predicted_questions": 5}
"""How many items a list may have; more is a warning."""

_FENCE = "```"
_CUT_NUMBER = re.compile(r"(?:-|\.|[eE][+-]?)?")
_LONGEST_ESCAPE = 6
_LITERALS = ("true", "false", "null")
_TRIES = 20
"""How many opening braces are tried for an object inside of text: each try may read it all."""


class SchemaFailure(StrEnum):
    NOT_JSON = "not_json"
    TRUNCATED = "truncated"
    CODE_FENCE = "code_fence"
    EXTRA_TEXT = "extra_text"
    NOT_AN_OBJECT = "not_an_object"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"


class ReadOutput(Struct, frozen=True):
    """The fields of an output, or the reason why there are none, with the field it concerns.

    ``field`` names the first field that is missing or of the wrong type.
    """

    fields: Mapping[str, Any] | None
    reason: SchemaFailure | None = None
    field: str | None = None


def read_output(output: str | None) -> ReadOutput:
    """Return the seven fields of `output`, which must be one JSON object and nothing else.

    Else the first reason in this order: no JSON, cut off, in a code fence or with text around it;
    another value than an object; a missing field; a field that is no list or no text.

    >>> read_output('{"main_topic": "rumah"}').field
    'target_audience'
    >>> str(read_output('{"main_topic": "ru').reason)
    'truncated'
    """
    text = (output or "").strip()
    try:
        value = json.loads(text, parse_int=float, parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:
        return ReadOutput(None, why_no_json(text, wrong))
    if not isinstance(value, dict):
        return ReadOutput(None, SchemaFailure.NOT_AN_OBJECT)
    for name in FIELDS:
        if name not in value:
            return ReadOutput(None, SchemaFailure.MISSING_FIELD, name)
    for name in FIELDS:
        if not isinstance(value[name], list if name in LISTS else str):
            return ReadOutput(None, SchemaFailure.WRONG_TYPE, name)
    return ReadOutput({name: value[name] for name in FIELDS})


def why_no_json(text: str, wrong: Exception) -> SchemaFailure:
    """Return why reading `text` as JSON failed with `wrong`: fenced, cut off, surrounded, none."""
    if text.startswith(_FENCE):
        return SchemaFailure.CODE_FENCE
    if text.startswith(("{", "[")) and _is_cut_off(text, wrong):
        return SchemaFailure.TRUNCATED
    return SchemaFailure.EXTRA_TEXT if _holds_object(text) else SchemaFailure.NOT_JSON


def _is_cut_off(text: str, wrong: Exception) -> bool:
    """Whether reading failed only because the text ends: all before is right."""
    if not isinstance(wrong, json.JSONDecodeError) or wrong.msg == "Extra data":
        return False
    if wrong.msg.startswith("Unterminated string"):
        return True
    remainder = text[wrong.pos :]
    if wrong.msg.startswith("Invalid \\"):
        return len(remainder) <= _LONGEST_ESCAPE and not remainder.endswith(("}", "]"))
    begins_word = any(word.startswith(remainder) for word in _LITERALS)
    return begins_word or _CUT_NUMBER.fullmatch(remainder) is not None


def _holds_object(text: str) -> bool:
    """Whether a JSON object begins somewhere in the text."""
    decoder = json.JSONDecoder(parse_int=float, parse_constant=_refuse)
    start = text.find("{")
    for _ in range(_TRIES):
        if start < 0:
            return False
        try:
            decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
        else:
            return True
    return False


def _refuse(constant: str) -> None:
    """Refuse NaN and Infinity, which Python reads but JSON does not have."""
    raise ValueError(constant)


WEIGHTS = {
    "target_audience": Fraction(10, 100),
    "main_topic": Fraction(10, 100),
    "sub_topic": Fraction(10, 100),
    "detailed_description": Fraction(30, 100),
    "original_evidence": Fraction(20, 100),
    "predicted_questions": Fraction(10, 100),
    "grounding": Fraction(10, 100),
}
"""The parts of the score with their weights, which add up to 1."""

# How much of an answer counts; the rest is ignored.
MAX_DESCRIPTIONS = 12
MAX_QUESTIONS = 10
MAX_KEYWORDS = 30
MAX_ENTRIES = 12
MAX_REFS = 6
MAX_ANCHORS = 6

HITS_FOR_FULL_SCORE = 8
LENGTH_FOR_FULL_SCORE = 40  # characters

_ENGLISH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,}")
_CHINESE = re.compile("[\u4e00-\u9fff]{2,}")


class Context(Struct, frozen=True):
    """One text that the model was given, with the file it is from."""

    source_path: str
    text: str


class JsonQuestion(Struct, frozen=True):
    """One question with its expected answer, the model's raw output and its contexts."""

    row_id: str
    question: str
    expected: Mapping[str, Any]
    output: str | None
    contexts: tuple[Context, ...] = ()


class KeywordEvidence(Struct, frozen=True):
    """Expected keywords, those of them in the evidence, and the length of the evidence.

    score = min(1, hits / 8) x (1 if length >= 40 else length / 40).
    """

    keywords: tuple[str, ...] = ()
    hits: tuple[str, ...] = ()
    length: int = 0

    @property
    def score(self) -> Fraction:
        share = min(Fraction(1), Fraction(len(self.hits), HITS_FOR_FULL_SCORE))
        return share * min(Fraction(1), Fraction(self.length, LENGTH_FOR_FULL_SCORE))


class Reference(Struct, frozen=True):
    """One reference of the answer's source_map: its file, and its first anchor in the contexts."""

    file: str | None
    file_known: bool
    anchor: str | None

    @property
    def ok(self) -> bool:
        """Whether the file is one of the contexts' and their text contains an anchor."""
        return self.file_known and self.anchor is not None


class JsonScore(Struct, frozen=True):
    """One answer scored, field by field; without ``fields`` every part is 0.

    ``parts`` are the sub-scores from 0 to 1 in the order of ``WEIGHTS``; the rest says why.
    """

    question: JsonQuestion
    output: ReadOutput
    parts: Mapping[str, Fraction]
    classes: Mapping[str, Likeness] = field(default_factory=dict)
    descriptions: Coverage | None = None
    questions: Coverage | None = None
    evidence: KeywordEvidence | None = None
    references: tuple[Reference, ...] = ()

    @property
    def schema_ok(self) -> bool:
        return self.output.fields is not None

    @property
    def reason(self) -> SchemaFailure | None:
        return self.output.reason

    @property
    def score(self) -> Fraction:
        return _score(self.parts)

    @property
    def too_long(self) -> tuple[str, ...]:
        """The lists that have more items than they may, which is a warning."""
        fields = self.output.fields or {}
        return tuple(name for name, most in MAX_ITEMS.items() if len(fields.get(name, ())) > most)


def score(question: JsonQuestion) -> JsonScore:
    """Return the score of one answer: 100 times the weighted sum of its parts, see ``WEIGHTS``.

    Classes: 1 where they match (``likeness``). Descriptions and questions: the F1 of their items
    (``cover``). Evidence: see ``KeywordEvidence``. Grounding: references that are right / all, 0
    without any.
    """
    output = read_output(question.output)
    if output.fields is None:
        return JsonScore(question, output, dict.fromkeys(WEIGHTS, Fraction(0)))
    expected, fields = question.expected, output.fields
    classes = {name: likeness(expected.get(name), fields[name]) for name in CLASSES}
    descriptions = _cover("detailed_description", expected, fields, MAX_DESCRIPTIONS)
    questions = _cover("predicted_questions", expected, fields, MAX_QUESTIONS)
    evidence = evidence_of(_text(expected.get("original_evidence")), fields["original_evidence"])
    references = tuple(_references(fields["source_map"], question.contexts))
    parts = {name: Fraction(class_likeness.matches) for name, class_likeness in classes.items()}
    parts["detailed_description"] = descriptions.f1
    parts["original_evidence"] = evidence.score
    parts["predicted_questions"] = questions.f1
    n_ok = sum(reference.ok for reference in references)
    parts["grounding"] = Fraction(n_ok, len(references)) if references else Fraction(0)
    return JsonScore(
        question, output, parts, classes, descriptions, questions, evidence, references
    )


def keywords(text: str) -> tuple[str, ...]:
    """Return the distinct keywords of `text`: English tokens in lower case, then Chinese bigrams.

    A token is a letter or digit, then two or more letters, digits, ``.``, ``_`` or ``-``.

    >>> keywords("The LoRA-v2 adapter, v1 資料集")
    ('the', 'lora-v2', 'adapter', '資料', '料集')
    """
    english = [token.lower() for token in _ENGLISH.findall(text)]
    chinese = [run[i : i + 2] for run in _CHINESE.findall(text) for i in range(len(run) - 1)]
    return tuple(dict.fromkeys([*english, *chinese]))


def evidence_of(expected: str, evidence: str) -> KeywordEvidence:
    """Return the first 30 keywords of `expected` and those of them that are keywords of `evidence`.

    >>> words = evidence_of("sertifikat hak milik", "Sertifikat hak milik, lengkap")
    >>> words.hits, words.length, words.score  # 3/8 x 29/40
    (('sertifikat', 'hak', 'milik'), 29, Fraction(87, 320))
    """
    expected_words = keywords(expected)[:MAX_KEYWORDS]
    evidence_words = set(keywords(evidence))
    return KeywordEvidence(
        expected_words,
        tuple(word for word in expected_words if word in evidence_words),
        len(evidence.strip()),
    )


def _cover(
    name: str, expected: Mapping[str, Any], fields: Mapping[str, Any], most: int
) -> Coverage:
    items = expected.get(name)
    return cover(items if isinstance(items, list) else [], fields[name], most=most)


def _references(entries: Sequence[object], contexts: Sequence[Context]) -> Iterator[Reference]:
    """Yield the references of a source_map, each held against the contexts."""
    files = {context.source_path for context in contexts}
    text = "\n".join(context.text for context in contexts)
    for entry in entries[:MAX_ENTRIES]:
        for ref in _list_in(entry, "refs")[:MAX_REFS]:
            file = ref.get("file") if isinstance(ref, dict) else None
            anchors = [_text(anchor) for anchor in _list_in(ref, "anchors")[:MAX_ANCHORS]]
            in_contexts = (anchor for anchor in anchors if anchor.strip() and anchor in text)
            yield Reference(
                file=file if isinstance(file, str) else None,
                file_known=isinstance(file, str) and file in files,
                anchor=next(in_contexts, None),
            )


def _list_in(outer: object, key: str) -> list[Any]:
    inner = outer.get(key) if isinstance(outer, dict) else None
    return inner if isinstance(inner, list) else []


def _score(parts: Mapping[str, Fraction]) -> Fraction:
    return 100 * sum((WEIGHTS[name] * part for name, part in parts.items()), Fraction(0))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


class Gate(Struct, frozen=True):
    """The thresholds that the averages must reach; an equal average reaches them."""

    min_average: Fraction = Fraction(95)
    min_pass_rate: Fraction = Fraction(98, 100)


class JsonSummary(Struct):
    """The figures over every answer added; order does not matter."""

    gate: Gate = field(default_factory=Gate)
    count: int = 0
    n_schema_ok: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    too_long: Counter[str] = field(default_factory=Counter)
    _parts: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(WEIGHTS, Fraction(0)))

    def add(self, score: JsonScore) -> None:
        """Add one answer, a failed one as 0."""
        self.count += 1
        self.n_schema_ok += score.schema_ok
        if score.reason is not None:
            self.reasons[str(score.reason)] += 1
        self.too_long.update(score.too_long)
        for name, part in score.parts.items():
            self._parts[name] += part

    @property
    def average(self) -> Fraction | None:
        """The mean score over all answers, ``None`` without any."""
        return _score(self._parts) / self.count if self.count else None

    @property
    def schema_pass_rate(self) -> Fraction | None:
        """Answers with an object of the seven fields / all answers."""
        return Fraction(self.n_schema_ok, self.count) if self.count else None

    @property
    def gate_passed(self) -> bool:
        """Whether both averages reach the gate; nothing scored passes nothing."""
        average, rate = self.average, self.schema_pass_rate
        if average is None or rate is None:
            return False
        return average >= self.gate.min_average and rate >= self.gate.min_pass_rate

    @property
    def part_means(self) -> dict[str, float | None]:
        """The mean of every part from 0 to 1 over all answers."""
        n = self.count
        return {name: float(total / n) if n else None for name, total in self._parts.items()}


class TooFewQuestions(Refused):
    """More questions are ``wanted`` than there are; the argument says how many there are."""

    message = mark("%(name)s questions can be used; --n asks for %(wanted)s")
    remedy = mark("Ask for fewer.")


def canonical(questions: Sequence[object]) -> bytes:
    """Return the canonical JSON of a set: its questions, keys sorted, without blanks, UTF-8.

    >>> canonical([{"id": 1, "question": "房?", "a": [1, 2]}]).decode()
    '[{"a":[1,2],"id":1,"question":"房?"}]'
    """
    text = json.dumps(questions, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode()


def eval_set_version(name: str, questions: Sequence[object]) -> str:
    """Return ``name@<sha1>`` of a set, the SHA-1 being that of its canonical JSON.

    >>> eval_set_version("dev", [])
    'dev@97d170e1550eee4afc0af065b78cda302a97674c'
    """
    return f"{name}@{sha1(canonical(questions), usedforsecurity=False).hexdigest()}"


def shares(topics: Sequence[str], n: int) -> dict[str, int]:
    """Return how many of `n` questions each topic gets, in proportion by the largest remainder.

    Topics with equal remainders come in the order in which they first occur.

    >>> shares(["a"] * 5 + ["b"] * 3 + ["c"] * 2, 4)  # 2.0, 1.2, 0.8
    {'a': 2, 'b': 1, 'c': 1}
    """
    sizes, total = Counter(topics), len(topics)
    if n > total:
        raise TooFewQuestions(total, wanted=n)
    seats = {topic: n * size // total for topic, size in sizes.items()}
    # A stable sort: topics with equal remainders stay in the order of their first question.
    by_remainder = sorted(sizes, key=lambda topic: -(n * sizes[topic] % total))
    for topic in by_remainder[: n - sum(seats.values())]:
        seats[topic] += 1
    return seats


def draw_dev_set(topics: Sequence[str], n: int, *, seed: int) -> list[int]:
    """Return the positions of `n` questions drawn from those with these topics, in their order.

    Within a topic each question is as likely as the next; the same seed draws the same.

    >>> topics = ["a", "b", "a", "b"]
    >>> draw_dev_set(topics, 2, seed=42) == draw_dev_set(topics, 2, seed=42)
    True
    """
    stream = random.Random(seed)  # noqa: S311 - a sample that can be repeated, no secret
    sample: list[int] = []
    for topic, size in shares(topics, n).items():
        positions = [position for position, each in enumerate(topics) if each == topic]
        sample += stream.sample(positions, size)
    return sorted(sample)


PROVENANCE = (
    *("prompt_sha256", "prompt_version", "index_version", "model_id"),
    *("adapter_id", "registry_model_id", "eval_set_version"),
)
"""The fields of every report that let it be repeated; of ``MODEL_PARTS`` one is enough."""

MODEL_PARTS = ("adapter_id", "registry_model_id")
_HASHES = {
    "prompt_sha256": re.compile("[0-9a-f]{64}", re.IGNORECASE),
    "eval_set_version": re.compile(r"\S.*@[0-9a-f]{40}", re.IGNORECASE),
}


def stated_provenance(fields: Mapping[str, object]) -> dict[str, str]:
    """The fields of ``PROVENANCE`` that `fields` states, in order; blank ones are left out.

    >>> stated_provenance({"model_id": " m ", "index_version": "", "other": "x"})
    {'model_id': 'm'}
    """
    texts = {name: str(fields.get(name) or "").strip() for name in PROVENANCE}
    return {name: text for name, text in texts.items() if text}


def missing_provenance(provenance: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that are missing; an adapter or a registry's model is enough.

    >>> missing_provenance({"prompt_sha256": "9f", "model_id": "m", "index_version": "1",
    ...                     "registry_model_id": "r", "eval_set_version": "1"})
    ('prompt_version',)
    """
    missing = tuple(name for name in PROVENANCE if name not in provenance)
    adapter, model = MODEL_PARTS
    return tuple(n for n in missing if n != model and (n != adapter or model in missing))


def no_hashes(provenance: Mapping[str, str]) -> tuple[str, ...]:
    """The fields that hold something else than the hash that belongs there.

    ``prompt_sha256`` is 64 hexadecimal digits, ``eval_set_version`` a name, ``@`` and 40.

    >>> no_hashes({"prompt_sha256": "9f", "eval_set_version": f"dev@{'0' * 40}"})
    ('prompt_sha256',)
    """
    return tuple(
        name
        for name, form in _HASHES.items()
        if name in provenance and not form.fullmatch(provenance[name])
    )
