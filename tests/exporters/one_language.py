"""The sentences of the other language in a report: in each language there are to be none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from html import unescape
from io import BytesIO

import openpyxl

from tests.page import Page
from tests.test_translations import pairs

PLACE = re.compile(r"%\(\w+\)s|%%")

SHORTEST = 13
"""Shorter texts are names and field terms that may be the same in both languages."""

READ = ("markdown", "latex", "html", "xlsx")

ENGLISH_DECIMALS = re.compile(r"(?<![\w./])\d+\.(?:\d\d|\d{4,})(?![\w.])")
"""Three digits after a point are thousands in Indonesian."""


def text_of(data: bytes | str) -> str:
    if isinstance(data, str):
        return data
    return _cells(data) if data.startswith(b"PK") else data.decode()


def _cells(data: bytes) -> str:
    sheets = openpyxl.load_workbook(BytesIO(data)).worksheets
    rows = (values for sheet in sheets for values in sheet.iter_rows(values_only=True))
    return "\n".join(value for values in rows for value in values if isinstance(value, str))


def sentences(texts: Mapping[str, str]) -> set[str]:
    translations = "\n".join(texts.values())
    return {
        part.strip()
        for text in texts
        for part in PLACE.split(text)
        if len(part.strip()) >= SHORTEST
        and " " in part.strip()
        and part.strip() not in translations
    }


@cache
def sentences_of_the_other(language: str) -> set[str]:
    english = pairs()
    indonesian = {theirs: ours for ours, theirs in english.items()}
    return sentences(english if language == "id" else indonesian)


def foreign(text: str, language: str) -> list[str]:
    words = " ".join(unescape(text).split())
    result = [sentence for sentence in sentences_of_the_other(language) if sentence in words]
    if language == "id":
        result += ENGLISH_DECIMALS.findall(Page(text).text if "</" in text else words)
    return result
