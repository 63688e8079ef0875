"""A study in a notebook: its runs, verdicts and figures as pandas tables. ``import relevansi``.

``open`` takes a database and ``connect`` a server; both give a ``Study``, which asks the addresses
under /api/v1. Every number is that of the page and the commands, to the last digit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx
from msgspec import json

from relevansi.config import Settings, secret, sqlite_url, with_driver
from relevansi.failures import Failure
from relevansi.i18n import SOURCE_LANGUAGE, speaking

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

    from pandas import DataFrame

ADDRESSES = "/api/v1"
TOKEN = "RELEVANSI_TOKEN"  # noqa: S105 - the name of a variable
PATIENCE_SECONDS = 120.0
"""The time limit of one answer."""

LONGEST_WAIT = 600.0
"""The default of how many seconds a background job is waited for."""

PAUSES = (0.1, 5.0)
"""Seconds before a job's state is asked for the first time, and the most between two times."""

ROWS = 1000  # of one page, the most that the server gives

COLUMN_TYPES = {
    "int64": "question query_id position rank item items content verdicts unjudged n wins ties"
    " losses queries cards with_results empty failed unreadable complete open_judgments",
    "Int64": "relevance",
    "float64": "value lower upper first_value second_value mean p p_holm"
    " latency_mean latency_p50 latency_p95",
    "bool": "unsure context_dependent evidence false_negatives_at_zero",
    "boolean": "relevant",
    "datetime64[us, UTC]": "at imported_at",
}
"""The columns of the tables by their types; all others are texts."""

# The columns of each table, in order.
RUN = (
    "id search_method llm queries cards with_results empty failed unreadable rule complete"
    " open_judgments timestamp imported_at latency_mean latency_p50 latency_p95"
)
RESULT = "run query_id question external_id rank item identity title relevance unsure"
QUESTION = "question position external_id text category context_dependent items unjudged"
ITEM = "item question run identity content verdicts"
JUDGMENT = "item question rater verdict relevant reason at evidence"
FIGURE = "run figure value lower upper n"
OF_QUESTION = "run query_id external_id text category figure value lower upper"
DIFFERENCE = (
    "first second figure false_negatives_at_zero n first_value second_value mean lower upper"
    " test p p_holm wins ties losses"
)
MEANS_OF = {
    "mean_precision_at_5": "precision_at_5",
    "mean_overall_precision": "overall_precision",
    "mrr_answerable": "mrr",
    "success_rate": "success",
    "mean_response_quality": "response_quality",
}
"""The figures of a run that are means over questions, with the name of the value they average."""


class RelevansiError(Exception):
    """A call failed or was refused; nothing that is stored was changed.

    ``title`` says what is wrong, ``detail`` the remedy. ``status`` is that of HTTP (0 without an
    answer). ``problems`` are those of files, each {file, line, message, ...}.
    """

    def __init__(
        self, title: str, detail: str, status: int = 0, problems: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        super().__init__(title, detail)
        self.title, self.detail, self.status, self.problems = title, detail, status, [*problems]

    def __str__(self) -> str:
        listed = [str(problem.get("message", problem)) for problem in self.problems]
        return "\n".join([f"{self.title}. {self.detail}", *listed])


def open(database: str | Path, *, new: bool = False) -> Study:  # noqa: A001 - as a file is opened
    """Return the study in a `database`: the path of a SQLite file, or a database URL.

    It runs in this process, without a server, and with the rights of the owner. A missing file is
    made if `new`. Raises ``RelevansiError`` for another missing file, and for a database of another
    version (`relevansi upgrade` brings an older one up to date). Close the study when done, or use
    ``with``.
    """
    address = str(database)
    url = with_driver(address)
    if "://" not in address:
        url = sqlite_url(Path(address).expanduser().absolute())
    from relevansi.app import create_app
    from relevansi.db import outages
    from relevansi.db.engine import Database
    from relevansi.web.frame.access import IN_PROCESS

    unusable: tuple[type[Exception], ...] = (*outages.OUTAGE_ERRORS, ImportError)
    path = url.removeprefix("sqlite:///")
    if path != url and not new and not Path(path).is_file():
        remedy = "Check the path, or say new=True to begin a study."
        raise RelevansiError(f"There is no database {address}", remedy)
    try:
        with closing(Database(url)) as opened:
            opened.prepare()
        settings = replace(Settings.from_environment(), database_url=url, is_demo=False)
        app = create_app(settings)
    except Failure as failure:
        raise _failed(failure) from None
    except unusable as error:
        why = str(getattr(error, "orig", None) or error)
        # From None: the cause may show the address, and with it a password.
        raise RelevansiError("The database cannot be opened", why.partition("\n")[0]) from None

    def answer(environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        return app({**environ, IN_PROCESS: True}, start)

    def close() -> None:
        app.extensions["workers"].finish(LONGEST_WAIT)
        app.extensions["database"].close()

    return Study("http://localhost", {}, httpx.WSGITransport(answer), close)


def connect(url: str, token: str | None = None) -> Study:
    """Return the study of the server at `url`, by `token` or that in ``RELEVANSI_TOKEN``.

    A rater's token sees what the rater sees. Raises ``RelevansiError`` without a token, and for an
    address with a user or password in it.
    """
    from relevansi.chatbot.client import UnusableAddress, full_address

    if "@" in url:
        raise RelevansiError("The address has a user or a password in it", f"Set {TOKEN} instead.")
    try:
        address = full_address(url)
    except UnusableAddress as failure:
        raise _failed(failure) from None
    token = token or secret(TOKEN)
    if not token:
        remedy = f"Make one (`relevansi token new`) and set {TOKEN}, or give it as `token`."
        raise RelevansiError("There is no token", remedy)
    return Study(address.rstrip("/"), {"Authorization": f"Bearer {token}"})


class Study:
    """One study, at a server or in this process. Made by ``open`` and ``connect``.

    A table has a row for each run, question, item ... as its method says. Texts are ``str``, whole
    numbers ``int64`` (``Int64`` where some are missing), times ``datetime64[us, UTC]``. ``lower``
    and ``upper`` are the bounds within which open judgments can still move a figure. ``rule`` is
    "majority", "adjudicated" or "rater NAME"; without it the usual one of the study. A run is named
    by its id. Every method raises ``RelevansiError`` if the call fails or is refused.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        transport: httpx.BaseTransport | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        base = f"{url}{ADDRESSES}"
        self._client = httpx.Client(
            base_url=base, headers=headers, timeout=PATIENCE_SECONDS, transport=transport
        )
        self._close = close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; that to a database once background jobs are done."""
        self._client.close()
        self._close()

    def runs(self) -> DataFrame:
        """Return the runs, a row each: how many questions and cards, how far judged, how slow.

        ``latency_mean``, ``latency_p50`` and ``latency_p95`` are milliseconds (float64),
        ``imported_at`` is a time, ``id`` names the run in other methods.
        """
        return _runs(self._json("GET", "/runs")["data"])

    def questions(self) -> DataFrame:
        """Return the questions, a row each; ``unjudged`` of its ``items`` nobody judged.

        ``position`` counts from 1 (int64), ``context_dependent`` is bool.
        """
        rows = self._rows("/questions")
        return _table(QUESTION, ({**row, "question": row["id"]} for row in rows))

    def items(
        self, *, question: int | None = None, run: str | None = None, unjudged: bool = False
    ) -> DataFrame:
        """Return the judged items, a row each: of a question, of a run, or those nobody judged.

        ``verdicts`` counts the people who judged it (int64). ``run`` is set where the item belongs
        to one run alone. The fields of an item follow by their names (object).
        """
        items = list(self._rows("/items", question=question, run=run, unjudged=unjudged))
        fields = dict.fromkeys(name for row in items for name in row["fields"])
        rows = ({**row["fields"], **row, "item": row["id"]} for row in items)
        return _table(ITEM, rows, *fields)

    def results(self, run: str, rule: str | None = None) -> DataFrame:
        """Return the results of a run, a row each, by question and rank (int64, from 1).

        ``relevance`` is the grade by the rule (Int64, missing where open or unsure), ``unsure``
        is bool.
        """
        return _results(self._rows(_path("runs", run, "results"), rule=rule))

    def unjudged(self, run: str, k: int = 10) -> DataFrame:
        """Return the results down to rank `k` that nobody judged, the first ranks first.

        The columns are those of ``results``; ``attrs["judged"]`` is Judged@k, 0 to 1.
        """
        answer = self._json("GET", _path("runs", run, "unjudged"), k=k)
        table = _results(answer["results"])
        table.attrs["judged"] = answer["judged"]
        return table

    def judgments(
        self, rater: str | None = None, run: str | None = None, *, question: int | None = None
    ) -> DataFrame:
        """Return current verdicts, a row for each rater and item; of all people or of one.

        ``verdict`` (str) is a grade, "unsure", or of an empty list "correct_empty" or
        "false_negative"; ``relevant`` (boolean) reads a grade at the threshold of the study;
        ``reason`` (str) says why the item is not relevant, where the rater gave one; ``evidence``
        (bool): the rater looked the item up, and it fits.
        """
        return _table(JUDGMENT, self._rows("/judgments", rater=rater, run=run, question=question))

    def figures(
        self,
        run: str | None = None,
        names: str | Sequence[str] | None = None,
        rule: str | None = None,
    ) -> DataFrame:
        """Return the figures of a run, or of every run: a row for each run and figure.

        They are those that the study shows first, or `names`. ``value``, ``lower``, ``upper`` are
        float64, missing where undefined; ``n`` (int64) is how many questions they rest on.
        """
        rows = []
        for report in self._figures(run, names, rule):
            for name, figure in report["figures"].items():
                rows.append({"run": report["run"], "figure": name, **figure})
        return _table(FIGURE, rows)

    def figures_by_question(
        self,
        run: str | None = None,
        names: str | Sequence[str] | None = None,
        rule: str | None = None,
    ) -> DataFrame:
        """Return the figures of each question: a row for each run, question and figure.

        ``value``, ``lower``, ``upper`` are float64, missing where open or undefined. In place of a
        mean of the usual headline there is the value it averages, without bounds: "precision_at_5".
        """
        rows = []
        for report in self._figures(run, names, rule):
            for query in report["queries"]:
                columns = {**query, "text": query["question"], "run": report["run"]}
                for name, bounds in _question_figures(query, report["figures"]):
                    rows.append({**columns, **bounds, "figure": name})
        return _table(OF_QUESTION, rows)

    def differences(
        self, *runs: str, names: str | Sequence[str] | None = None, rule: str | None = None
    ) -> DataFrame:
        """Return the paired differences of runs: a row for each pair and figure.

        First minus second, over the ``n`` questions with a value in both. ``lower`` and ``upper``
        are the 95 % interval of ``mean``; ``p`` and ``p_holm`` are two-sided (float64).
        ``wins``, ``ties``, ``losses`` count questions of the first (int64).
        """
        query = {"run": runs, "figures": _listed(names), "rule": rule}
        differences = self._json("GET", "/comparisons", **query)["differences"]
        return _table(DIFFERENCE, ({**each, **each["interval"]} for each in differences))

    def agreement(self) -> dict[str, Any]:
        """Return how far the raters agree, as `relevansi agreement --format json` prints it."""
        return dict(self._json("GET", "/agreement"))

    def export(
        self,
        run: str,
        format: str,  # noqa: A002 - as the command calls it
        rule: str | None = None,
        *,
        longest_wait: float = LONGEST_WAIT,
    ) -> bytes:
        """Return a run as the file that `relevansi export --format` writes, or "proof-pack".

        A file that a background job makes is waited for, at most `longest_wait` seconds.
        """
        path = _path("runs", run, "exports", format)
        answer = self._ask("GET", path, params=_without_none(rule=rule))
        if answer.status_code != httpx.codes.ACCEPTED:
            return answer.content
        job = self._finished(json.decode(answer.content), longest_wait)
        return self._ask("GET", f"/jobs/{job['id']}/file").content

    def import_files(
        self, *paths: str | Path, longest_wait: float = LONGEST_WAIT, **options: Any
    ) -> DataFrame:
        """Import files of any format that the import page takes, together; return their runs.

        Of a folder every file in it is taken. `options` are method, llm, rater (whose the grades
        are), columns and map (dicts of roles and names of columns, or paths in JSON), grades (a
        dict of grades in the files and what they are here), depth, split, metadata (a list), rating
        ("blind" or "open"), confirm (how many changes of what the study has are meant) and
        same_documents (True: verdicts carry over to documents whose text is another than before).
        What is stored in the background is waited for, at most `longest_wait` seconds. The
        columns are those of ``runs``. Files that are wrong raise ``RelevansiError`` with
        ``problems``.
        """
        answer = self._ask("POST", "/runs", data=_form(options), files=_uploads(paths))
        answered = json.decode(answer.content)
        if answer.status_code != httpx.codes.ACCEPTED:
            return _runs(answered["data"])
        ids = self._finished(answered, longest_wait)["runs"]
        return _runs(row for row in self._json("GET", "/runs")["data"] if row["id"] in ids)

    def import_catalogue(self, *paths: str | Path, mode: str = "add") -> dict[str, Any]:
        """Import files of listings or documents into the catalogue; return what changed.

        `mode` is "add", "replace" or "remove". The answer has the counts added, changed, unchanged,
        removed, repeated and total, and ``problems``. Files that are wrong raise
        ``RelevansiError``.
        """
        answer = self._ask("POST", "/catalogue", data={"mode": mode}, files=_uploads(paths))
        return dict(json.decode(answer.content))

    def catalogue(self, words: str = "", *, most: int = 20, **filters: int | str) -> DataFrame:
        """Return the items of the catalogue that have all words, a row each, at most 100.

        `filters` are type, offer, place, price_from, price_to and bedrooms. ``attrs`` has the
        ``count`` of all that fit and the ``total``. The fields of an item follow by their names
        (object).
        """
        answer = self._json("GET", "/catalogue", q=words, limit=most, **filters)
        fields = dict.fromkeys(name for row in answer["items"] for name in row)
        table = _table("", answer["items"], *fields)
        table.attrs |= {name: answer[name] for name in ("count", "total")}
        return table

    def gate(
        self,
        *paths: str | Path,
        baseline: str,
        floors: Mapping[str, float] | None = None,
        figures: str | Sequence[str] | None = None,
        **limits: Any,
    ) -> dict[str, Any]:
        """Return what a gate says of the run in files, as `relevansi gate --format json` prints it.

        `floors` are by figure, `figures` decide. `limits` are min_judged, tolerance, strict,
        allow_missing, rule, and what ``import_files`` takes of files. Nothing is stored unless
        ask=True keeps the run for raters. ``exit_code`` is 0, 1 (worse) or 3 (undecided).
        """
        floor = [f"{figure}={least!r}" for figure, least in (floors or {}).items()]
        form = _form({**limits, "baseline": baseline, "floor": floor, "figures": _listed(figures)})
        answer = self._ask("POST", "/gates", data=form, files=_uploads(paths))
        return dict(json.decode(answer.content))

    def _figures(
        self, run: str | None, names: str | Sequence[str] | None, rule: str | None
    ) -> Iterator[dict[str, Any]]:
        ids = [run] if run else [row["id"] for row in self._json("GET", "/runs")["data"]]
        for run_id in ids:
            path = _path("runs", run_id, "figures")
            yield self._json("GET", path, figures=_listed(names), rule=rule)

    def _rows(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        cursor: int | None = 0
        while cursor is not None:
            page = self._json("GET", path, **query, cursor=cursor, limit=ROWS)
            yield from page["data"]
            cursor = page["next"]

    def _json(self, method: str, path: str, **query: Any) -> Any:
        return json.decode(self._ask(method, path, params=_without_none(**query)).content)

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise RelevansiError("The server does not answer", why) from error
        if not answer.is_success:
            raise _refused(answer)
        return answer

    def _finished(self, job: dict[str, Any], longest_wait: float) -> dict[str, Any]:
        """Return a job once it is done; raises ``RelevansiError`` if it fails or takes longer."""
        deadline = time.monotonic() + longest_wait
        pause, longest_pause = PAUSES
        while job["state"] not in {"done", "failed"}:
            seconds_left = deadline - time.monotonic()
            if seconds_left <= 0:
                title = f"Job {job['id']} is not done after {longest_wait:g} seconds"
                remedy = "It goes on; ask again later, with a longer longest_wait."
                raise RelevansiError(title, remedy)
            time.sleep(min(pause, seconds_left))
            pause = min(2 * pause, longest_pause)
            job = self._json("GET", f"/jobs/{job['id']}")
        if job["failure"] or job["problems"]:
            why = job["failure"] or "Mend what is named and import the files again."
            raise RelevansiError("The job failed", why, 422, job["problems"])
        return job


def _failed(failure: Failure) -> RelevansiError:
    with speaking(SOURCE_LANGUAGE):
        title = failure.sentence()
        return RelevansiError(title, failure.line().removeprefix(f"{title}. "), failure.status)


def _refused(answer: httpx.Response) -> RelevansiError:
    try:
        problem = json.decode(answer.content)
        title, detail = problem["title"], problem["detail"]
        return RelevansiError(title, detail, answer.status_code, problem.get("problems", ()))
    except (ValueError, KeyError, TypeError):
        title = f"The server answered {answer.status_code}"
        return RelevansiError(title, "Is this the address of a Relevansi?", answer.status_code)


def _path(*names: str) -> str:
    return "".join(f"/{quote(name, safe='')}" for name in names)


def _without_none(**query: Any) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}


def _listed(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _form(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a form that are set; dicts are sent as JSON."""
    form = _without_none(**fields)
    objects = {"columns", "map", "grades"} & form.keys()
    return form | {name: json.encode(form[name]).decode() for name in objects}


def _uploads(paths: Iterable[str | Path]) -> list[tuple[str, tuple[str, bytes]]]:
    """Return files as they are sent; of a folder every file in it."""
    uploads = []
    try:
        for path in map(Path, paths):
            inside = sorted(path.rglob("*")) if path.is_dir() else [path]
            files = [file for file in inside if file == path or file.is_file()]
            uploads += [("files", (file.name, file.read_bytes())) for file in files]
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
        raise RelevansiError("A file cannot be read", f"Check its path. {why}") from None
    return uploads


def _question_figures(
    query: dict[str, Any], names: Iterable[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and value of those figures of a run that a question has."""
    ranking = query.get("figures", {})
    for name in names:
        if name in ranking:
            yield name, ranking[name]
        elif name in MEANS_OF:
            yield MEANS_OF[name], {"value": query[MEANS_OF[name]]}


def _runs(rows: Iterable[dict[str, Any]]) -> DataFrame:
    flat_rows = []
    for row in rows:
        latency = row["latency_ms"] or {}
        columns = {f"latency_{name}": value for name, value in latency.items()}
        flat_rows.append({**row, **columns})
    return _table(RUN, flat_rows)


def _results(rows: Iterable[dict[str, Any]]) -> DataFrame:
    # In two columns, so that grades are numbers.
    typed_rows = []
    for row in rows:
        is_unsure = row["relevance"] == "unsure"
        relevance = None if is_unsure else row["relevance"]
        typed_rows.append({**row, "unsure": is_unsure, "relevance": relevance})
    return _table(RESULT, typed_rows)


def _table(columns: str, rows: Iterable[Mapping[str, Any]], *object_columns: str) -> DataFrame:
    """Return the rows as a table of these columns, with the same types where there is no row."""
    import pandas as pd

    types = {name: dtype for dtype, names in COLUMN_TYPES.items() for name in names.split()}
    names = [*columns.split(), *object_columns]
    table = pd.DataFrame(list(rows), columns=names)
    for name in names:
        dtype: Any = "object" if name in object_columns else types.get(name, "str")
        if dtype.startswith("datetime64"):
            table[name] = pd.to_datetime(table[name], utc=True, format="ISO8601")
        table[name] = table[name].astype(dtype)
    return table
