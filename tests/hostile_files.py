"""Files that are small beside what reading them takes, made when they are wanted."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_TABLE = "query_id,question,system,rank,doc_id,text\n"


def nested() -> bytes:
    """Return 11 kB of JSON that is 900 objects deep, with a list at the bottom."""
    return b'{"results":' * 900 + b"[]" + b"}" * 900


def empty_rows() -> bytes:
    """Return a workbook of some kB with 200,000 empty rows, said to be as wide as can be."""
    sheet = f'<worksheet xmlns="{_MAIN}"><dimension ref="A1:XFD1048576"/><sheetData>'
    return _workbook(f"{sheet}{'<row/>' * 200_000}</sheetData></worksheet>")


def systems() -> bytes:
    """Return a table in which each of 300,000 rows is of another system."""
    rows = (f"1,q,s{number},1,d,t\n" for number in range(300_000))
    return f"{_TABLE}{''.join(rows)}".encode()


def open_quote() -> bytes:
    """Return a table of 28 MB with a quotation mark that nothing closes."""
    rows = "2,q,s,1,d2,text\n" * 1_750_000
    return f'{_TABLE}1,q,s,1,d1,"a text\n{rows}'.encode()


def new_keys() -> bytes:
    """Return 300,000 lines, each with keys of metadata that no other one has."""
    rows = (
        {"query_id": 1, "question": "q", "doc_id": f"d{n}", "rank": n + 1, f"a{n}": 1, f"b{n}": 2}
        for n in range(300_000)
    )
    return "\n".join(map(json.dumps, rows)).encode()


def empty_lists() -> bytes:
    """Return JSON that looks like a run, with ten million empty lists and a number that is none."""
    return b'{"results":[{"query_id":NaN,"response":[' + b"[]," * 10_000_000 + b"[]]}]}"


HOSTILE: Mapping[str, Callable[[], bytes]] = {
    "nested.json": nested,
    "empty_rows.xlsx": empty_rows,
    "systems.csv": systems,
    "open_quote.csv": open_quote,
    "new_keys.jsonl": new_keys,
    "empty_lists.json": empty_lists,
}


def _workbook(sheet: str) -> bytes:
    relation = f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" Type='
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/a.xml" ContentType="{_TYPE}.worksheet+xml"/></Types>',
        "_rels/.rels": f'{relation}"{_DOCUMENT}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_DOCUMENT}"><sheets>'
        '<sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{relation}"{_DOCUMENT}/worksheet" Target="a.xml"/>'
        "</Relationships>",
        "xl/a.xml": sheet,
    }
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in parts.items():
            packed.writestr(name, text)
    return file.getvalue()
