"""The studies of the two demos, made by the services that users use: ``nox -s demo`` keeps them."""

from __future__ import annotations

import csv
import json
import lzma
import random
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy import select
from sqlalchemy.orm import Session

from relevansi.config import sqlite_url
from relevansi.db import sqlite_files
from relevansi.db.engine import Database
from relevansi.db.tables.judging import JudgedItem, Repeat
from relevansi.db.tables.people import Rater
from relevansi.db.tables.runs import Query, Result, Run
from relevansi.db.tables.study import Question, Study
from relevansi.i18n import DEFAULT_LANGUAGE, language, speaking
from relevansi.importers.catalogue import items
from relevansi.importers.runs import json_runs
from relevansi.records import Click, Relevance
from relevansi.services.agreement import adjudications
from relevansi.services.catalogue import catalogue
from relevansi.services.judging import events
from relevansi.services.judging.events import Target, TargetChange
from relevansi.services.rating import particulars, pool, task_judgments, tasks
from relevansi.services.rating.pool import POOL, Unit
from relevansi.services.runs import results, stored_results, stored_runs
from relevansi.services.runs.stored_runs import Labels
from relevansi.services.study import demos, studies
from seeds.making import evaluations, gold, looking, machine_judges, phase_3, planning, reasons

SEEDS = Path(__file__).parents[1]
BEGUN_AT = datetime(2026, 2, 9, 2, tzinfo=UTC)
"""When the studies begin: the same ones are made every time."""
DOCUMENTS_NAMES = {"id": "Studi contoh dokumen", "en": "Sample study of documents"}
DOCUMENTS_FIGURES = ("nDCG@5", "P@5", "RR@5", "success@5", "Judged@5")
JUDGED_DEPTH = 5
"""Of each list in ``documents``."""


def keep() -> None:
    """Make the studies and keep them where the demo restores them from."""
    for code, documents in ((DEFAULT_LANGUAGE, False), *((code, True) for code in DOCUMENTS_NAMES)):
        with TemporaryDirectory() as folder, speaking(code):
            made, taken = Path(folder, "made.sqlite"), Path(folder, "taken.sqlite")
            make(made, documents=documents)
            sqlite_files.take(made, taken)
            data = lzma.compress(taken.read_bytes(), preset=9)
            demos.packed_study(documents=documents).write_bytes(data)


def make(file: Path, *, documents: bool = False) -> None:
    """Make the study of a demo in the new database `file`, that of documents in the language.

    Its secrets, and so its addresses and orders, are always the same: they guard nothing, as its
    people and answers are invented.
    """
    drawn = random.Random("relevansi demo")  # noqa: S311 - they guard nothing

    def token(n: int | None = None) -> str:
        return urlsafe_b64encode(drawn.randbytes(n or 32)).rstrip(b"=").decode()

    with closing(Database(sqlite_url(file))) as database:
        database.prepare()
        with (
            mock.patch.object(secrets, "token_hex", lambda n=None: drawn.randbytes(n or 32).hex()),
            mock.patch.object(secrets, "token_urlsafe", token),
            database.writing() as session,
        ):
            load = load_documents if documents else load_demo
            load(session, SEEDS, BEGUN_AT)
            session.commit()


class SampleRating(Struct, frozen=True):
    """A rating of one answer as a file in ``seeds`` gives it; ``name`` is the id of its events."""

    name: str
    run_id: str
    query_id: int
    verdicts: Mapping[int, str]
    quality: int | None
    notes: str
    empty_outcome: str | None


def load(session: Session, folder: Path, now: datetime) -> Study:
    """Make the demo's study with the sample runs of `folder` (``seeds``), rated run by run."""
    study = studies.open_or_make(session, now)
    study.name = "Studi contoh"
    studies.set_switches(session, study, replace(studies.switches(study), blind=False), now)
    rater = studies.raters(session, study)[0]
    by_folder = {}
    for path in sorted((folder / "runs").glob("*/*.json"), reverse=True):
        read = json_runs.read(f"{path.parent.name}/{path.name}", path.read_bytes())
        by_folder[path.parent.name] = stored_runs.store(session, study, read, Labels(), now).id
    ratings = json.loads((folder / "ratings.json").read_text("utf-8"))["ratings"]
    given = [
        SampleRating(
            name=f"sample-{number}",
            run_id=by_folder[rating["run"]],
            query_id=rating["query_id"],
            verdicts={int(rank): said for rank, said in rating.get("results", {}).items()},
            quality=rating.get("quality"),
            notes=rating.get("notes") or "",
            empty_outcome=rating.get("empty_outcome"),
        )
        for number, rating in enumerate(ratings)
    ]
    rate(session, rater, given, now)
    return study


def load_demo(session: Session, folder: Path, now: datetime) -> Study:
    """Add the finished study of the demo: the sample, and what every feature has beside it."""
    study = load(session, folder, now)
    listings = items.read(items.expanded([folder / "catalogue.json"]), study.kind)
    entries = [
        catalogue.entry(item, details, stated_type=stated_type)
        for item, details, stated_type in listings
    ]
    catalogue.write(session, entries, is_imported=True)
    add(session, study, folder / "demo", now)
    settle(session, study, now)
    for part in (gold, reasons, looking, evaluations, machine_judges, phase_3, planning):
        part.add(session, study, folder / "demo", now)
    return study


def load_documents(session: Session, folder: Path, now: datetime) -> Study:
    """Make the finished study of documents from ``documents`` in `folder`, rated blind."""
    study = studies.open_or_make(session, now)
    stated = json.loads((folder / "documents" / "scale.json").read_text("utf-8"))
    said = stated | stated.get(language(), {})
    scale = studies.scale_of(stated["top"], stated["from"], said["words"], said["guidance"])
    wanted = replace(
        studies.switches(study),
        name=DOCUMENTS_NAMES[language()],
        scale=scale,
        blind=True,
        pool_depth=JUDGED_DEPTH,
        measures=DOCUMENTS_FIGURES,
    )
    studies.set_switches(session, study, wanted, now)
    names = ("queries.jsonl", "corpus.jsonl", "runs/*.run")
    files = [path for name in names for path in sorted((folder / "documents").glob(name))]
    report = results.read_files("documents", files)
    stored_results.store(session, study, report, now)
    for path in sorted((folder / "documents").glob("ratings-*.csv")):
        rows = csv.DictReader(path.read_text("utf-8").splitlines())
        grades = {(row["query_id"], row["doc_id"]): row["grade"] for row in rows}
        rater = studies.add_rater(session, study, path.stem.removeprefix("ratings-"), now)
        grade_blind(session, rater, grades, now)
    machine_judges.add(session, study, folder / "documents", now, language())
    return study


def grade_blind(
    session: Session, rater: Rater, grades: Mapping[tuple[str, str], str], now: datetime
) -> None:
    """Give a rater's `grades`, by question and document, on the pages of their tasks."""
    pooled = (
        select(JudgedItem, Question.external_id)
        .join(Question, Question.id == JudgedItem.question_id)
        .where(pool.is_shown(rater.study_id, rater.study.pool_depth))
        .order_by(Question.position, JudgedItem.id)
    )
    clicks, changes = count(1), []
    given: dict[int, str] = {}
    tasks_of = dict[int, str]()
    for item, question in session.execute(pooled).all():
        at = now + next(clicks) * PACE
        if item.question_id not in tasks_of:
            unit = Unit(item.question_id, None)
            tasks_of[item.question_id] = pool.make_task(session, rater, unit, POOL, at).id
        given[item.id] = grades[str(question), (item.card or {})["doc_id"]]
        target = Target("verdict", item.id, None, tasks_of[item.question_id])
        click = Click(f"{rater.name}-{item.id}", at)
        changes.append(TargetChange(target, given[item.id], click))
    events.lock(session, rater)
    events.record_all(session, rater, changes)
    events.refresh(session, rater, [change.target for change in changes])
    while task := tasks.next_task(session, rater, now + next(clicks) * PACE):  # asked once more
        for key in session.scalars(select(Repeat.judged_item_id).where(Repeat.task_id == task.id)):
            at = now + next(clicks) * PACE
            card = tasks.key(task, key)
            task_judgments.judge(
                session, rater, task.id, card, given[key], Click(f"{task.id}-{key}", at)
            )


def rate(
    session: Session,
    rater: Rater,
    given: Iterable[SampleRating],
    now: datetime,
    pace: timedelta = timedelta(0),
    *,
    blind: bool = False,
) -> None:
    """Give a rater's ratings in one sitting, `blind` on the pages of the rater's tasks."""
    ratings = list(given)
    in_runs = Query.run_id.in_({rating.run_id for rating in ratings})
    queries = {
        (one.run_id, one.query_id): one for one in session.scalars(select(Query).where(in_runs))
    }
    shown = select(Result.query_key, Result.rank, Result.judged_item_id).join(Query)
    things = {(key, rank): thing for key, rank, thing in session.execute(shown.where(in_runs))}
    clicks = count(1)
    changes = []

    def say(target: Target, said: str | int | None, name: str) -> None:
        if said not in {None, ""}:
            changes.append(TargetChange(target, str(said), Click(name, now + next(clicks) * pace)))

    @cache
    def task(unit: Unit) -> str:
        return pool.make_task(session, rater, unit, POOL, now).id

    for rating in ratings:
        query = queries[rating.run_id, rating.query_id]
        run_id = query.run_id if query.question.context_dependent else None
        task_id = task(Unit(query.question_id, run_id)) if blind else None
        page = None if blind else query.id
        for rank, verdict in rating.verdicts.items():
            target = Target("verdict", things[query.id, rank], page, task_id)
            say(target, verdict, f"{rating.name}-{rank}")
        say(Target("quality", None, query.id, task_id), rating.quality, rating.name)
        say(Target("notes", None, query.id, task_id), rating.notes, rating.name)
        emptiness = Target("verdict", query.emptiness_id, page, task_id)
        say(emptiness, rating.empty_outcome, rating.name)
    events.lock(session, rater)
    events.record_all(session, rater, changes)
    events.refresh(session, rater, [change.target for change in changes])


PACE = timedelta(seconds=7)
VERDICTS = {"1": Relevance.RELEVANT, "0": Relevance.NOT_RELEVANT, "?": Relevance.UNSURE}
"""Any other character is a card that has its verdict from another run."""


def add(session: Session, study: Study, folder: Path, now: datetime) -> None:
    """Import the runs in `folder` beside those of the study, and rate them all."""
    guidelines = (folder / "guidelines.md").read_text("utf-8").strip()
    switched = replace(studies.switches(study), guidelines=guidelines)
    studies.set_switches(session, study, switched, now)
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    typed = {
        question.id: notes.get(str(question.position), "")
        for lines in particulars.question_notes(session, study)
        for question, _ in lines
    }
    particulars.set_notes(session, study, typed, now)
    run_ids = {
        run.search_method or "": run.id
        for run in session.scalars(select(Run).where(Run.study_id == study.id))
    }
    for path in sorted((folder / "runs").glob("*.json")):
        read = json_runs.read(path.name, path.read_bytes())
        run_ids[path.stem] = stored_runs.store(session, study, read, Labels(), now).id
    owner = studies.raters(session, study)[0]
    for place, rated in enumerate(json.loads((folder / "ratings.json").read_text("utf-8"))):
        rater = owner if place == 0 else studies.add_rater(session, study, rated["name"], now)
        if place == 0:
            studies.rename_rater(session, owner, rated["name"], now)
        given = [
            SampleRating(
                name=f"demo-{rater.id}-{run_ids[name]}-{number}",
                run_id=run_ids[name],
                query_id=int(number),
                verdicts={
                    rank: VERDICTS[said] for rank, said in enumerate(row[0], 1) if said in VERDICTS
                },
                quality=row[1],
                notes=row[2],
                empty_outcome=row[3],
            )
            for name, questions in rated["runs"].items()
            for number, row in questions.items()
        ]
        rate(session, rater, given, now, PACE, blind=place > 0)


def settle(session: Session, study: Study, now: datetime) -> None:
    """Settle two of three disputes of the demo as most raters see them; the rest are to try."""
    reasons = (
        "Semua yang diminta terlihat pada kartu.",
        "Harganya di luar batas yang diminta.",
        "Halaman iklannya menyebutkan hal yang diminta.",
    )
    owner = studies.raters(session, study)[0]
    docket = adjudications.docket(session, study)
    disputes = sorted((*docket.ties, *docket.majorities), key=lambda dispute: dispute.item_id)
    for number, dispute in enumerate(disputes):
        if number % 3:
            verdict = dispute.label or min(dispute.cast.values())
            reason = reasons[number % len(reasons)]
            at = now + timedelta(days=2, minutes=number)
            adjudications.adjudicate(session, owner, dispute.item_id, verdict, reason, at)


if __name__ == "__main__":
    keep()
