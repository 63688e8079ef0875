"""The members of a proof pack as bytes, and the one zip that holds them.

The same parts give the same bytes: members are in the order of their names (after those that
are read first), and none carries the time at which it was written. Everything in a pack
is English, so that neither the reader's nor the exporter's language changes it.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from relevansi.i18n import gettext
from relevansi.metrics.judging.queries import MEANS
from relevansi.metrics.judging.registry import MEASURES
from relevansi.metrics.proof_packs.proof_files import FORMAT, MANIFEST, PACK_VERSION, README
from relevansi.records import CannotTell, Scale

_NO_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can state, for a member that has none."""
_READABLE_FILE = 0o100644 << 16
_UNIX = 3

_TEXT = """\
# Proof pack

Everything behind the figures of an evaluation of a {system}: what was shown, who
judged it how and when, and what follows. Made by Relevansi; `manifest.json` says which
version, with which seeds, and what every figure means.

**This pack names its raters** ({raters}) and holds what each of them said and wrote. Pass
it on only to whom they agreed to.

## What is inside

| file | holds |
| --- | --- |
| `manifest.json` | the SHA-256 of each file here and each imported one, definitions, seeds |
| `study/TABLE.json` | the rows that everything follows from, one a line: questions, answers, \
cards, raters, their verdicts, grades and notes, what settled disputes, every change they made; \
a machine's verdicts only where people judged a sample |
| `verdicts.csv` | each rater's current verdict on each card and empty list, why a card is not \
relevant, and what was looked up as evidence |
| `guidelines.md` | what raters went by, where it was written down |
| `questions/SET.json` | the questions, in order |
| `runs/RUN/rated.csv` | one line per question, in the columns of the method |
| `runs/RUN/raters.csv` | the same with the columns of each rater |
| `runs/RUN/judgments.csv` | one line per card, with ids that stay the same |
| `runs/RUN/qrels.txt`, `run.txt` | judgments and ranked lists in the forms of TREC |
| `runs/RUN/run.json` | the run with every answer, card and verdict |
| `runs/RUN/figures.json` | the figures per run, category and question, under every rule |
| `comparisons/SET.json` | two or more runs of one question set compared, with intervals and tests |
{added}
A verdict is {verdict} or `unsure` (cannot tell); that of an empty
list is `correct_empty` or `false_negative`. It hangs on a question, a {thing} and the
content that was shown, so that a {thing} which several runs returned is judged once. Where
a question depends on the turns before it, `judged_in` names the run that the verdict belongs
to. Files that hold one verdict per card follow the rule {rule}: "majority" is \
{merging}, "adjudicated" the same with
disputes settled, "rater NAME" one rater's own. Undefined is null in JSON and blank in CSV,
never 0; the one exception is `mrr` in `rated.csv`, which is 0 for an empty list, also for one
that is rightly empty, where it is undefined.

{cannot_tell}

## What was given blind

`blindness` in `manifest.json` counts it, for verdicts on cards and empty lists and for grades.
The event that made a current verdict decides: with a `task_id` it was clicked on a page that names
neither run nor method, with a `query_key` and no `task_id` (cause `click` or `bulk`) on one that
names both. Anything else, as from a file, is "unknown". An event that another one undoes
(`undoes_id`) made nothing, nor did that other one.

## Recompute everything

    relevansi verify proof_pack.zip

needs no database. It replays the events (`study/events.json`), puts the rows into an empty
database, makes every other file from there again and says "equal", or which files and figures
differ. What it prints as the fingerprint is the SHA-256
of `manifest.json`: a hash can only prove what was written down elsewhere, for example in the
report that rests on this pack.

## The orders in which raters saw cards and answers

They are drawn from a secret of the study, which stays in its database: with it, each blind
answer could be traced to its run. `commitments` in `manifest.json` is its SHA-256. Once the
rating is over, its owner can show the secret (`order_secret` in the table `studies` of a
backup), and `printf %s SECRET | sha256sum` shows that it was this one.

## Recompute with somebody else's program

Python 3.9 or newer and [ir-measures](https://ir-measur.es) suffice. Unpack the zip, then, in
its folder (the second line needs Python 3.13 or older, as of ir-measures 0.4.3):

```
pip install ir-measures
ir_measures --by_query runs/RUN/qrels.txt runs/RUN/run.txt "{measures}"
```

{compared}"""
_OF_METHOD = """\
`RR` is the column `mrr` of every question whose rating is complete. `P@5` there is always
divided by 5, also for a shorter list: times 5 / min(n, 5), n the number of results, it is
`precision_at_5`, as long as no card of the question is "cannot tell" and left out and no item
is listed twice: the qrels judge an item at its first rank alone. A list of which nothing is
decided has no line in the qrels; its reciprocal rank is 0 here. This compares them all:

```python
import json
from collections import Counter
from pathlib import Path

import ir_measures
from ir_measures import RR, P

RULE = {literal}

for folder in sorted(Path("runs").iterdir()):
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    ranked = list(ir_measures.read_trec_run(str(folder / "run.txt")))
    decided = Counter(line.query_id for line in qrels)
    shown = Counter(line.query_id for line in ranked)
    theirs = {{
        (found.query_id, found.measure): found.value
        for found in ir_measures.iter_calc([RR, P @ 5], qrels, ranked)
    }}
    equal = Counter()
    figures = json.loads((folder / "figures.json").read_text("utf-8"))
    for question in figures[RULE]["queries"]:
        number = str(question["query_id"])
        n = shown[number]
        if not question["complete"] or not decided[number]:
            continue
        assert abs(theirs[number, RR] - question["mrr"]) < 1e-9, (folder, number)
        equal["RR"] += 1
        if decided[number] == n:
            precision = theirs[number, P @ 5] * 5 / min(n, 5)
            assert abs(precision - question["precision_at_5"]) < 1e-9, (folder, number)
            equal["P@5"] += 1
    print(folder.name, "equal:", dict(equal))
```
"""


_OF_RANKINGS = """\
These are the figures of the same names in `figures.json`, question by question, where the study
shows them; others go the same way. Where nothing is relevant, ir-measures says 0, and the figure
here is undefined.
"""
_BINARY = "`1` (relevant), `0` (not relevant)"
_GRADES = "a grade, `0` to `{scale.top}` (relevant from `{scale.relevant_from}`)"
_MERGING = {
    "majority": "what most\ndecided votes say (cannot tell does not vote, a tie stays open)",
    "median": "the median\nof the grades (the lower of two middle ones; cannot tell does not vote)",
}
_CANNOT_TELL: Mapping[CannotTell, str] = {
    "not_relevant": """\
A card that is "cannot tell" counts as not relevant in every figure here (`cannot_tell` in
`manifest.json`), so that each line of `rated.csv` can be recomputed from its own columns:
`overall_precision` is relevant_count / results_count.""",
    "left_out": """\
A card that is "cannot tell" is left out of the precisions here (`cannot_tell` in
`manifest.json`), above and below the line; the notes in `rated.csv` name its rank.""",
}


def pack(
    facts: Mapping[str, Any], secret: str, files: Mapping[str, bytes], about: Mapping[str, str]
) -> bytes:
    """Return the zip of `files` by name, with their manifest and README.

    `secret` is the SHA-256 of the secret of the orders; `about` says what the members hold that
    not every pack has.
    """
    added = {name: text for name, text in about.items() if name in files}
    members = {README: readme(facts, added), **files}
    manifest = {
        "format": FORMAT,
        "pack_version": PACK_VERSION,
        **facts,
        "created_at_is": "when the last event, import or logged change inside happened",
        "commitments": [
            {
                "what": "what blind raters see, in which order",
                "sha256": secret,
                "of": "the study's secret, which its database alone holds",
            }
        ],
        "definitions": [
            {
                "name": measure.name,
                "per_question": MEANS.get(measure.name),
                "label": measure.label,
                "meaning": gettext(measure.meaning),
                "unit": measure.unit,
                "formula": measure.formula,
                "denominator": measure.denominator,
                "edge_cases": list(map(gettext, measure.edge_cases)),
                "source": measure.source,
            }
            for measure in MEASURES.values()
        ],
        "files": [
            {"name": name, "bytes": len(data), "sha256": sha256(data).hexdigest()}
            for name, data in sorted(members.items())
        ],
    }
    return packed_folder({MANIFEST: json_file(manifest), **dict(sorted(members.items()))})


def packed_folder(members: Mapping[str, bytes]) -> bytes:
    """Return a zip of files by name, the README first; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compresslevel=9) as archive:
        for name in (README, *(name for name in members if name != README)):
            info = zipfile.ZipInfo(name, _NO_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = _READABLE_FILE
            info.create_system = _UNIX
            archive.writestr(info, members[name])
    return buffer.getvalue()


def json_file(document: object) -> bytes:
    return f"{_json(document, indent=1)}\n".encode()


def lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return "[{}]\n".format(",".join(f"\n{_json(row)}" for row in rows)).encode()


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent, default=datetime.isoformat)


def readme(facts: Mapping[str, Any], added: Mapping[str, str]) -> bytes:
    """Return the README of a pack by the facts of its manifest, with what it has `added`."""
    scale, is_method = Scale.stored(facts.get("scale")), "kind" not in facts
    rule, level = facts["rule"], f"(rel={scale.relevant_from})"
    return _TEXT.format(
        raters=", ".join(map(_quoted, facts["raters"])),
        rule=_quoted(rule),
        system="property chatbot" if is_method else "search or RAG system",
        thing="property" if is_method else "document",
        verdict=_BINARY if scale.top == 1 else _GRADES.format(scale=scale),
        merging=_MERGING[facts.get("merging", "majority")],
        measures="RR P@5" if is_method else f"nDCG@10 RR{level}@10 AP{level}",
        compared=_OF_METHOD.format(literal=json.dumps(rule)) if is_method else _OF_RANKINGS,
        added="".join(f"| `{name}` | {text} |\n" for name, text in added.items()),
        cannot_tell=_CANNOT_TELL[facts["cannot_tell"]],
    ).encode()


def _quoted(text: str) -> str:
    """`text` in quotation marks on one line, without what Markdown would read as markup."""
    escaped = "".join(f"\\{mark}" if mark in "\\|*`<[_" else mark for mark in text)
    return f'"{" ".join(escaped.split())}"'
