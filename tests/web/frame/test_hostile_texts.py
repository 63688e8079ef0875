"""Hostile chatbot text goes in by the page, is rated, and comes out: it never acts or breaks."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from openpyxl import load_workbook

from relevansi.web.frame.markdown import render
from tests.conftest import copied
from tests.web.conftest import in_english

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "handler": "<img src=x onerror=alert(1)><body onload=alert(1)>",
    "javascript link": "[x](javascript:alert(1)) <a href='javascript:alert(1)'>x</a>",
    "data link": "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "svg": "<svg onload=alert(1)><script>alert(1)</script><use href='#x'/></svg>",
    "unclosed": "<div><table><tr><td><b><!-- <style> <textarea> <title>",
    "closing": "</p></article></main></body></html>",
    "htmx": "<hx-partial hx-target='body'><div hx-get='/x' hx-trigger='load'>",
    "template": "{{ 7*7 }}{% for x in y %}${7*7}",
    "attribute": "\"' onmouseover=alert(1) x=\"'",
    "reordered": "aman\u202e\u2066gpj.exe\u2069",
    "null": "a\x00b<scr\x00ipt>alert(1)</scr\x00ipt>",
    "controls": "\x1b[31m\x07\x85\u2028\u2029\ufeff",
    "half a character": "\ud800",
    "formula": '=HYPERLINK("http://evil.example";"x")',
    "formula in disguise": "\t=1+1",
    "command": "@SUM(1+1)*cmd|' /C calc'!A0",
    "frames": "<iframe src='//evil.example'></iframe><form action='//evil.example'><button>x",
    "links": '[x](JaVaScRiPt:1) [x](vbscript:x) [x](https://a.example "onmouseover=alert(1)")',
    "picture": "![x](https://evil.example/pixel.png) <style>*{display:none}</style>",
    "code": "`<script>` &lt;script&gt;alert(1)&lt;/script&gt;",
    "long": "x" * 2**17,
    "long brackets": "[" * 2**17,
    "long tags": "<b>" * 2**15,
}
FIRST = "command"  # a spreadsheet looks at the beginning alone
HOSTILE["together"] = " ".join(
    [HOSTILE[FIRST], *(HOSTILE[name] for name in HOSTILE if name[:4] != "long" and name != FIRST)]
)
EVERY_DAY = {"together", "formula in disguise", "long"}


def texts(*, long: bool = True) -> pytest.MarkDecorator:
    """Each text by itself in `nox -s thorough`; the short ones in one text every time."""
    names = [name for name in HOSTILE if long or not name.startswith("long")]
    marks = {name: () if name in EVERY_DAY else pytest.mark.thorough for name in names}
    return pytest.mark.parametrize("name", [pytest.param(n, marks=marks[n]) for n in names])


ACTIVE = {"script", "svg", "iframe", "object", "embed", "style", "base", "body", "html", "title"}
ACTIVE |= {"hx-partial", "textarea", "img", "use", "link"}
VOID = {"meta", "link", "input", "br", "hr", "img", "wbr"}
PLACES = ("", "/delete", *(f"/queries/{number}" for number in (1, 2, 3, 4)))
ALIVE = re.compile(
    r"<(?:script|img|svg|iframe|style|form|button|input|div|section|main|hx-)|"
    r"<[^>]+\son\w+=|<[^>]+(?:href|src)=[\"']?(?:javascript|data|vbscript):",
    re.IGNORECASE,
)
FORMULA = re.compile(r"^[\t\r\n ]*[=+\-@]")


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.broken: list[str] = []
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        while self.open and self.open[-1] != tag and self.open[-1] in {"p", "li", "option", "dt"}:
            self.open.pop()
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            self.broken.append(tag)

    def actions(self) -> list[str]:
        result = []
        for tag, attributes in self.seen:
            for name, value in attributes.items():
                runs = re.match(r"\s*(javascript|data|vbscript):", value, re.IGNORECASE)
                if name.startswith("on") or name == "style" or (runs and name in {"href", "src"}):
                    result.append(f"{tag} {name}={value[:40]}")
        return result

    def elements(self) -> dict[str, int]:
        names = [tag for tag, attributes in self.seen if not is_icon(attributes)]
        return {name: names.count(name) for name in sorted(ACTIVE) if name in names}


def is_icon(attributes: dict[str, str]) -> bool:
    """Whether an element is of our own icons, of which a long text may have one more to unfold."""
    return attributes.get("class", "").startswith("ico") or attributes.get("href", "")[:3] == "#i-"


def file_with(text: str) -> bytes:
    answer = (
        f"{text}\n\n1. **{text}**\n   📍 {text}\n   💰 Rp 650 jt\n   🔗 [Lihat Detail]({text})\n"
        f"2. **[{text}](https://x.example/properti/rumah-b)**\n   🏠 {text}\n"
    )
    query: dict[str, Any] = {"category": text[:1_000], "success": True, "response": answer}
    results = [
        {**query, "query_id": 1, "question": f"{text} 1", "results_count": 2},
        {**query, "query_id": 2, "question": f"{text} 2", "response": "", "results_count": 0},
        {**query, "query_id": 3, "question": f"{text} 3", "success": False, "error": text,
         "response": "", "results_count": 0},
        {**query, "query_id": 4, "question": f"{text} 4", "response": text, "results_count": 3},
    ]  # fmt: skip
    run = {
        "timestamp": text, "thread_id": text, "user_id": text, "search_method": text,
        "llm": text, "total_questions": 4, "successful": 3, "results": results, text: text,
    }  # fmt: skip
    return json.dumps(run).encode()


def imported(client: FlaskClient, data: bytes, name: str) -> str:
    response = client.post("/runs/import", data={"files": (BytesIO(data), name)})
    assert response.status_code == 303, response.text
    report = client.get(response.headers["Location"])
    assert report.status_code == 200
    check(report.text, "import report")
    token = response.headers["Location"].partition("token=")[2]
    stored = client.post("/runs/import", data={"token": token, "action": "store"})
    assert stored.status_code == 303, stored.text
    return stored.headers["Location"].partition("/queries/")[0]


def check(text: str, place: str, calm: Page | None = None) -> None:
    page = Page(text)
    assert page.actions() == [], place
    assert page.broken == [], place
    assert page.open == [], place
    assert "</html>" in text, place
    assert not re.search("[\x00\x1b\u202a-\u202e\u2066-\u2069]", text), place
    if calm is not None:
        assert page.elements() == calm.elements(), place


@pytest.fixture(name="calm", scope="module")
def _calm(first_app: tuple[Flask, Path]) -> dict[str, Page]:
    app, new = first_app
    copied(new, app.extensions["database"])
    client = in_english(app)
    run = imported(client, file_with("rumah"), "../../etc/passwd<script>\u202egpj.json")
    pages = {place: Page(client.get(run + place).text) for place in PLACES}
    app.extensions["database"].close()
    return pages


@texts()
def test_hostile_text_goes_through_and_does_nothing(
    calm: dict[str, Page], client: FlaskClient, name: str
) -> None:
    run = imported(client, file_with(HOSTILE[name]), "test_results.json")

    assert not ALIVE.search(render(HOSTILE[name]))
    for place in PLACES:
        answer = client.get(run + place)
        assert answer.status_code == 200, place
        assert len(answer.data) < 400_000, place
        check(answer.text, place, calm[place])
    for address in ("/", "/runs/", "/history/"):
        check(client.get(address).text, address)

    notes = HOSTILE[name][:5_000].encode(errors="replace").decode()
    client.post(f"{run}/queries/1/results/1/judgment", data={"relevance": "1"})
    assert client.post(f"{run}/queries/1/rating", data={"notes": notes}).status_code == 303
    check(client.get(f"{run}/queries/1").text, "rated")
    csv.field_size_limit(2**24)
    for export in ("export.csv", "judgments.csv"):
        written = client.get(f"{run}/{export}").data.decode("utf-8")
        for row in csv.reader(io.StringIO(written)):
            assert [cell for cell in row if FORMULA.match(cell)] == []
    document = client.get(f"{run}/export.json").get_json()
    assert document["queries"][0]["results"][0]["relevance"] == 1
    for export, width in (("qrels.txt", 4), ("run.txt", 6)):
        lines = client.get(f"{run}/{export}").data.decode("utf-8").splitlines()
        assert {len(line.split()) for line in lines} <= {width}
    if not name.startswith("long"):  # a workbook has no cell for these
        book = load_workbook(BytesIO(client.get(f"{run}/export.xlsx").data))
        kinds = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
        assert "f" not in kinds
