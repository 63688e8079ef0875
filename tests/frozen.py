"""What the product makes of a finished study, frozen: ``python -m tests.frozen`` freezes it anew.

``tests/frozen/demo.json.xz`` holds every export, report and comparison of the demo's study in both
languages; ``tests/frozen/hybrid.json`` only the hashes of those of a recorded run, which is never
committed. `difference` compares two of them: floats to 1e-9, everything else exactly.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import math
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from openpyxl import load_workbook
from sqlalchemy import select

from relevansi.config import resource
from relevansi.db.tables.runs import Run
from relevansi.records import Relevance
from tests import demo
from tests.cli.relevansi import Stream, exit_code, relevansi
from tests.page import Page
from tests.stored_studies import study_in

FOLDER = Path(__file__).parent / "frozen"
DEMO = FOLDER / "demo.json.xz"
HYBRID = FOLDER / "hybrid.json"
BESIDE = Path(__file__).parents[2] / "shared" / "real" / "hybrid"
NEW_COLUMNS = {
    "studies": "kind scale merging measures asks_quality marks_words reason_required mappings",
    "questions": "external_id",
    "queries": "asks_quality",
    "runs": "sequence",
}
"""The columns that tables got after the outputs were frozen."""
GONE_COLUMNS = {"results": ["id"], "run_files": ["id"]}
"""Those that packs had then, at the front, and have no more."""
RECORDED = Path(os.environ.get("RELEVANSI_REAL_RUN", BESIDE))
FORMATS = ("csv", "wide-csv", "long-csv", "xlsx", "report", "qrels", "run", "json", "html")
LANGUAGES = ("en", "id")
DAY = datetime(2026, 12, 1, 12, tzinfo=UTC)
"""The day on which the commands are given: pages and papers state it."""
on_that_day = mock.patch("relevansi.cli.frame.options.now", mock.Mock(return_value=DAY))


def frozen_demo() -> dict[str, Any]:
    frozen: dict[str, Any] = json.loads(lzma.decompress(DEMO.read_bytes()))
    return frozen


@on_that_day
def of_demo(
    folder: Path, languages: Sequence[str] = LANGUAGES, *, is_whole: bool = True
) -> dict[str, Any]:
    """The outputs by their names; unless they are whole, those of each kind once.

    Then there are only the runs of one model and the comparison of phase 1, and neither the page
    for rating without a server nor the tree, whose other files are exports and reports as well.
    """
    outputs: dict[str, Any] = {}
    for language in languages:  # each from the same study: some commands write to its log
        instance = folder / language
        instance.mkdir()
        demo.restored(instance).rename(instance / "relevansi.sqlite")
        outputs |= {
            f"{language}/{name}": output
            for name, output in _outputs(instance, language, seeds(), is_whole)
        }
    return outputs


@on_that_day
def of_recorded_run(folder: Path) -> dict[str, str]:
    files = (RECORDED / "test_results.json", RECORDED / "results.json")
    relevansi(folder, "import", *files)
    relevansi(folder, "gold", "import", RECORDED / "questions_v2.json")
    _judge(folder)
    return {
        f"{language}/{name}": _hash(output, folder)
        for language in LANGUAGES
        for name, output in _outputs(folder, language, {"hybrid": RECORDED})
        if "proof-pack" not in name  # its hashes depend on the run's random id
    }


def seeds() -> dict[str, Path]:
    return {folder.name: folder for folder in sorted((resource("seeds") / "runs").iterdir())}


def _judge(folder: Path) -> None:
    from relevansi.services.judging import judgments
    from relevansi.services.runs import reports
    from relevansi.services.study import studies
    from tests.services.runs.runs import click

    with study_in(folder) as (session, study):
        rater = studies.raters(session, study)[0]
        run_id = session.scalars(select(Run.id)).one()
        for row in reports.report(session, study, run_id, reports.of_rater(rater)).rows:
            for rank in range(1, row.summary.results_count + 1):
                place = f"{row.query_id}/{rank}"
                verdict = list(Relevance)[hashlib.sha256(place.encode()).digest()[0] % 3]
                at = click(f"e{place}")
                judgments.judge(session, rater, run_id, row.query_id, rank, verdict, at)


def _outputs(
    folder: Path, language: str, files: dict[str, Path], is_whole: bool = True
) -> Iterator[tuple[str, Any]]:
    listed = json.loads(relevansi(folder, "runs", "--json").stdout)["runs"]
    names = {run["id"]: f"{run['search_method']}-{run['llm']}" for run in listed}

    def output(name: str, *arguments: str | Path, kind: str = "txt") -> tuple[str, Any]:
        out, err = Stream(), Stream()
        code = exit_code(folder, list(map(str, arguments)), language, out, err)
        content = readable(out.bytes.getvalue(), kind)
        return name, content if code == 0 else {
            "exit": code,
            "error": err.text(),
            "output": content,
        }

    yield output("runs", "runs", "--json", kind="json")
    for run_id, name in names.items():
        if not is_whole and not name.endswith("-openai"):
            continue
        for file_format in FORMATS if is_whole else FORMATS[:-1]:
            export = ("export", run_id, "--format", file_format)
            yield output(f"{name}/{file_format}", *export, kind=file_format)
        yield output(f"{name}/metrics", "metrics", "--run", run_id, "--format", "json", kind="json")
        yield output(f"{name}/table", "metrics", "--run", run_id, "--format", "markdown")
    yield output("proof-pack", "export", "--format", "proof-pack", kind="proof-pack")
    for phase in ("1", "2", "3") if is_whole else ("1",):
        for kind in ("json", "markdown", "latex", "html"):
            compared = ("compare", "--phase", phase, "--format", kind)
            yield output(f"phase-{phase}/{kind}", *compared, kind=kind)
    yield output("agreement/json", "agreement", "--format", "json", kind="json")
    yield output("agreement/table", "agreement", "--format", "table")
    yield output("check", "check")
    with TemporaryDirectory() as work:
        yield from _of_files(Path(work), folder, output, names, files)
        if is_whole:
            yield from _of_tree(Path(work), folder)


def _of_files(
    work: Path, folder: Path, output: Any, names: dict[str, str], files: dict[str, Path]
) -> Iterator[tuple[str, Any]]:
    gold = work / "gold.json"
    relevansi(folder, "gold", "export", "-o", gold)
    judged = []
    for method, source in files.items():
        results, run_folder = source / "results.json", work / method
        run_folder.mkdir()
        (run_folder / "results.json").write_bytes(results.read_bytes())
        if (source / "manual_input.json").exists():
            (run_folder / "manual_input.json").write_bytes(
                (source / "manual_input.json").read_bytes()
            )
        else:
            newest = next(run for run, name in names.items() if name.startswith(method))
            target = run_folder / "manual_input.json"
            relevansi(folder, "manual-input", "export", "--run", newest, "-o", target)
        judged.append(run_folder)
        score = ("score", "constraints", "--results", results, "--gold", gold)
        yield output(f"constraints/{method}", *score, "--format", "json", kind="json")
        by_hand = ("--manual-input", run_folder / "manual_input.json", "--format", "json")
        yield output(f"constraints/{method}/manual", *score, *by_hand, kind="json")
    yield output("conflicts/json", "conflicts", *judged, "--format", "json", kind="json")
    yield output("conflicts/table", "conflicts", *judged, "--format", "table")


def _of_tree(work: Path, folder: Path) -> Iterator[tuple[str, Any]]:
    tree = work / "tree"
    relevansi(folder, "export-tree", tree)
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            kind = path.suffix.removeprefix(".")
            kind = "report-html" if kind == "html" and "evaluation_" not in path.name else kind
            yield f"tree/{path.relative_to(tree).as_posix()}", readable(path.read_bytes(), kind)


def readable(content: bytes, kind: str) -> Any:
    if kind == "xlsx":
        book = load_workbook(io.BytesIO(content))
        return {sheet.title: [list(row) for row in sheet.values] for sheet in book}
    if kind in {"proof-pack", "zip"}:
        with zipfile.ZipFile(io.BytesIO(content)) as pack:
            result = {
                name: _columns(Path(name).stem, pack.read(name))
                if name.startswith("study/")
                else readable(pack.read(name), Path(name).suffix[1:])
                for name in pack.namelist()
            }
        for member in result["manifest.json"]["files"]:  # whose content is compared itself
            member |= {"sha256": "", "bytes": 0}
        result["manifest.json"]["database_version"] = "0029"  # as when it was frozen
        return result
    text = content.decode("utf-8-sig").replace(version("relevansi"), "VERSION")
    if kind == "json":
        return json.loads(text) if text else ""
    if kind == "html":
        page = Page(text)
        data = [
            json.loads(script.content) for script in page.all("script[type='application/json']")
        ]
        return {"words": page.text.split(), "data": data}
    return text.splitlines()


def _columns(table: str, rows: bytes) -> Any:
    decoded = json.loads(rows)
    names = (
        (name for name in decoded[0] if name not in NEW_COLUMNS.get(table, "").split())
        if decoded
        else ()
    )
    return [len(decoded), *(GONE_COLUMNS.get(table, ()) if decoded else ()), *names]


def difference(frozen: Any, output: Any, place: str = "") -> str | None:
    """Return the first place where two outputs differ, and both values; None where none does."""
    if repr(frozen) == repr(output):  # quick, and most of the time so; 1 is not 1.0
        return None
    if isinstance(frozen, float) and isinstance(output, float):
        if math.isclose(frozen, output, rel_tol=1e-9, abs_tol=1e-9):
            return None
    elif isinstance(frozen, dict | list) and type(frozen) is type(output):
        if len(frozen) != len(output):
            return f"{place} length: {len(frozen)} became {len(output)}"
        was, now = (
            dict(value) if isinstance(value, dict) else dict(enumerate(value))
            for value in (frozen, output)
        )
        inner = (difference(was.get(key), now.get(key), f"{place}.{key}") for key in was | now)
        return next(filter(None, inner), None)
    return f"{place}: {frozen!r} became {output!r}"


def _hash(output: Any, folder: Path) -> str:
    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return float(f"{value:.9g}")
        if isinstance(value, dict):
            return {key: rounded(inner) for key, inner in value.items()}
        return [rounded(inner) for inner in value] if isinstance(value, list) else value

    with study_in(folder) as (session, _):
        run_id = session.scalars(select(Run.id)).one()
    text = json.dumps(rounded(output), sort_keys=True).replace(run_id, "RUN")
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    before = frozen_demo() if DEMO.exists() else {}
    with TemporaryDirectory() as folder:
        decoded = json.loads(json.dumps(of_demo(Path(folder)), default=str))
    for name in sorted(before | decoded):
        if change := difference(before.get(name), decoded.get(name)):
            sys.stdout.write(f"{name}{change}\n")
    content = json.dumps(decoded, ensure_ascii=False, sort_keys=True).encode()
    DEMO.write_bytes(lzma.compress(content, preset=9))
    if RECORDED.exists():
        with TemporaryDirectory() as folder:
            hashes = json.dumps(of_recorded_run(Path(folder)), indent=0, sort_keys=True)
        HYBRID.write_text(hashes + "\n", "utf-8")


if __name__ == "__main__":
    main()
