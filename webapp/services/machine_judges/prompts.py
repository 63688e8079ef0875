"""A machine judge's prompts, and the reading of its answers.

A prompt is a text with three places: {question}, {earlier} and {card}. The texts that fill
them never name the run, search method or LLM that found the property.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from webapp.config import resource
from webapp.failures import Refused
from webapp.i18n import SOURCE_LANGUAGE, mark, texts_of
from webapp.metrics.evaluations.json_outputs import SchemaFailure, why_no_json
from webapp.records import Card, Relevance
from webapp.services.rating.pages import EarlierTurn

LONGEST_PROMPT = 20_000
LONGEST_REASON = 500
PLACES = ("question", "earlier", "card")
NEEDED = ("question", "card")
VERDICTS: Mapping[str, Relevance] = {
    "relevant": Relevance.RELEVANT,
    "not_relevant": Relevance.NOT_RELEVANT,
    "cannot_tell": Relevance.UNSURE,
}
FENCED = str(SchemaFailure.CODE_FENCE)
"""The flaw of an answer that was read out of a code fence."""
_PLACE = re.compile(rf"\{{({'|'.join(PLACES)})\}}")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)


class UnfitPrompt(Refused, ValueError):
    """A prompt that misses the place that is the argument."""

    message = mark("The prompt needs the place %(name)s")
    remedy = mark("Write it where each call is to say its own.")


class PromptTooLong(UnfitPrompt):
    """A prompt of more than ``most`` characters."""

    message = mark("The prompt is too long")
    remedy = mark("It may have %(most)s characters.")


class WrongAnswer(StrEnum):
    """The fault of an answer that is JSON, but not the JSON that was asked for."""

    OTHER_FIELDS = "other_fields"
    NO_VERDICT = "no_verdict"
    NO_REASON = "no_reason"


EXPLANATIONS: Mapping[str, str] = {
    SchemaFailure.NOT_JSON: mark("The answer is not JSON."),
    SchemaFailure.TRUNCATED: mark("The answer was cut off."),
    SchemaFailure.CODE_FENCE: mark("The answer is inside a code fence that cannot be read."),
    SchemaFailure.EXTRA_TEXT: mark("There is text around the JSON of the answer."),
    SchemaFailure.NOT_AN_OBJECT: mark("The answer is JSON, but not an object."),
    WrongAnswer.OTHER_FIELDS: mark('The answer has other fields than "verdict" and "reason".'),
    WrongAnswer.NO_VERDICT: mark("The verdict in the answer is none of the three."),
    WrongAnswer.NO_REASON: mark("The answer gives no reason."),
}
"""Why an answer could not be read, in words, as message ids."""


class UnreadableVerdict(ValueError):
    """An answer that is not the JSON asked for; ``code`` is one of ``EXPLANATIONS``."""

    def __init__(self, code: SchemaFailure | WrongAnswer) -> None:
        super().__init__(str(code))
        self.code = str(code)


class MachineVerdict(Struct, frozen=True):
    """A machine's verdict and its reason; ``flaw`` is what is wrong with the answer's form."""

    verdict: Relevance
    reason: str
    flaw: str | None = None


# Not gettext: the words belong to the version of a judge and must not change with ours.
_LABELS: Mapping[str, Mapping[str, str]] = {
    "id": {
        "title": "Judul",
        "listing_type": "Jenis penawaran",
        "source": "Asal",
        "price": "Harga",
        "location": "Lokasi",
        "bedrooms": "Kamar tidur",
        "bathrooms": "Kamar mandi",
        "land_area": "Luas tanah",
        "building_area": "Luas bangunan",
        "floors": "Lantai",
        "certificate": "Sertifikat",
        "sale": "dijual",
        "rent": "disewa",
        "project": "proyek baru",
        "year": "per tahun",
        "month": "per bulan",
        "asked": "Pertanyaan",
        "answered": "Jawaban",
        "none": "(tidak ada)",
    },
    "en": {
        "title": "Title",
        "listing_type": "Offer",
        "source": "Kind",
        "price": "Price",
        "location": "Location",
        "bedrooms": "Bedrooms",
        "bathrooms": "Bathrooms",
        "land_area": "Land area",
        "building_area": "Building area",
        "floors": "Floors",
        "certificate": "Certificate",
        "sale": "for sale",
        "rent": "for rent",
        "project": "new project",
        "year": "a year",
        "month": "a month",
        "asked": "Question",
        "answered": "Answer",
        "none": "(none)",
    },
}


LANGUAGES = tuple(_LABELS)
"""The languages in which a machine is asked."""


def language_for(code: str) -> str:
    """Return `code` where a machine is asked in that language, else English."""
    return code if code in LANGUAGES else SOURCE_LANGUAGE


def default(language: str, guidelines: str) -> str:
    """Return the prompt that a judge begins with, with the study's guidelines in it."""
    text = texts_of(resource("templates") / "machine_judges", "prompt")[language].strip()
    told = guidelines.strip()
    return text.replace("{guidelines}", f"\n{told}\n" if told else "", 1)


def check(prompt: str) -> None:
    """Return if a prompt can be used; raises ``UnfitPrompt``."""
    if len(prompt) > LONGEST_PROMPT:
        raise PromptTooLong(most=LONGEST_PROMPT)
    for name in NEEDED:
        if f"{{{name}}}" not in prompt:
            raise UnfitPrompt(f"{{{name}}}")


def filled(
    prompt: str, language: str, question: str, earlier: Sequence[EarlierTurn], card: Card
) -> str:
    """Return a prompt with its places filled, in one pass: no text can open another place.

    >>> filled("{question} {card}", "en", "{card}?", (), Card("Rumah"))
    '{card}? - Title: Rumah'
    """
    values = {
        "question": question,
        "earlier": _conversation(earlier, language),
        "card": described(card, language),
    }
    return _PLACE.sub(lambda place: values[place[1]], prompt)


def described(card: Card, language: str) -> str:
    """Return the fields of a card, line by line, without its address and its number.

    >>> print(described(Card("Rumah", price=650000000, bedrooms=3), "id"))
    - Judul: Rumah
    - Harga: Rp 650000000
    - Kamar tidur: 3
    """
    words = _LABELS[language]
    stated = {
        "title": card.title,
        "listing_type": words.get(card.listing_type or card.price_note or "", ""),
        "source": words["project"] if card.source == "project" else "",
        "price": _price(card, words),
        "location": card.location or "",
        "bedrooms": _count(card.bedrooms),
        "bathrooms": _count(card.bathrooms),
        "land_area": _area(card.land_area),
        "building_area": _area(card.building_area),
        "floors": _count(card.floors),
        "certificate": card.certificate or "",
    }
    return "\n".join(f"- {words[name]}: {text}" for name, text in stated.items() if text)


def read(answer: str) -> MachineVerdict:
    """Return the verdict in an answer, the whole of it being the JSON asked for.

    One code fence around it is taken off, which the verdict notes. Raises
    ``UnreadableVerdict``: nothing is guessed.

    >>> read(' {"verdict": "not_relevant", "reason": "Di kota lain."} ').verdict
    <Relevance.NOT_RELEVANT: '0'>
    """
    fence = _FENCE.fullmatch(answer.strip())
    text = (fence[1] if fence else answer).strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise UnreadableVerdict(why_no_json(text, wrong)) from wrong
    if not isinstance(value, dict):
        raise UnreadableVerdict(SchemaFailure.NOT_AN_OBJECT)
    if set(value) != {"verdict", "reason"}:
        raise UnreadableVerdict(WrongAnswer.OTHER_FIELDS)
    verdict, reason = value["verdict"], value["reason"]
    if not isinstance(verdict, str) or verdict not in VERDICTS:
        raise UnreadableVerdict(WrongAnswer.NO_VERDICT)
    told = " ".join(reason.replace("\x00", "").split()) if isinstance(reason, str) else ""
    if not told:
        raise UnreadableVerdict(WrongAnswer.NO_REASON)
    return MachineVerdict(VERDICTS[verdict], told[:LONGEST_REASON], FENCED if fence else None)


def _conversation(earlier: Sequence[EarlierTurn], language: str) -> str:
    words = _LABELS[language]
    turns = (
        f"{words['asked']}: {turn.question}\n{words['answered']}: {turn.response}"
        for turn in earlier
    )
    return "\n\n".join(turns) or words["none"]


def _price(card: Card, words: Mapping[str, str]) -> str:
    if not card.price:
        return ""
    highest = card.price_max if card.price_max != card.price else None
    amount = f"Rp {card.price}" + (f" - Rp {highest}" if highest else "")
    return f"{amount} {words.get(card.price_period or '', '')}".strip()


def _count(number: int | None) -> str:
    return str(number) if number else ""


def _area(square_metres: float | None) -> str:
    return f"{square_metres:g} m²" if square_metres else ""
