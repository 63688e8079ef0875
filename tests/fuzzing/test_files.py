"""Every format that is read, spoiled and given to what the pages and commands read it with."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from relevansi.chatbot import mappings
from relevansi.chatbot.answers import Message
from relevansi.chatbot.failures import CallFailed
from relevansi.config import sqlite_url
from relevansi.db.engine import Database
from relevansi.db.tables.study import Study
from relevansi.exporters.evaluations.score_documents import WaitingRows
from relevansi.i18n import LANGUAGES, speaking
from relevansi.importers.evaluations import expected_json
from relevansi.importers.gold import gold_questions
from relevansi.importers.proof_packs import pack as proof_pack
from relevansi.importers.runs import csv_ratings, json_runs, problems, questions
from relevansi.importers.runs.problems import ImportRefused
from relevansi.importers.runs.ratings import OfflineRatings
from relevansi.metrics.evaluations import json_answers
from relevansi.records import Problem
from relevansi.services.agreement import agreement
from relevansi.services.evaluations import scoring
from relevansi.services.evaluations.evaluations import EvaluationKind as Scored
from relevansi.services.evaluations.scoring import NamedBytes, ScoringSettings
from relevansi.services.exports import exports, rated_imports, ratings
from relevansi.services.judging import stored_summaries
from relevansi.services.proof_packs import verification
from relevansi.services.runs import file_formats, imports, reports
from relevansi.services.study import studies
from tests.conftest import NOW
from tests.fuzzing import mutations, samples
from tests.services.evaluations import scored_files
from tests.services.gold import gold_files
from tests.services.runs.runs import store
from tests.stored_studies import open_study

NAME = "berkas.json"
ASKED = Message("Rumah?", "s1", "u", "hybrid", (("Halo", "Ya"),))

Read = Callable[["Ground", bytes], None]
Spoil = Callable[[bytes, Random], bytes]


class Ground(NamedTuple):
    """The place that files are read into, a database with a study and one run, and valid files."""

    database: Database
    run_id: str
    valid: Mapping[str, Sequence[bytes]]


def _check(reported: Sequence[Problem]) -> None:
    """Tell every problem, as pages and commands would, in every language."""
    for language in LANGUAGES:
        with speaking(language):
            for problem in reported:
                assert problem.file
                _check_words(problems.message(problem))
    json.dumps([problems.to_dict(problem) for problem in reported])


def _check_words(message: str) -> None:
    message.encode("utf-8")
    assert "Traceback" not in message
    assert "%(" not in message.replace("%(file)s", "")


def _refusing(read: Callable[[], object]) -> None:
    """Read; a refusal names what is wrong, where, and the remedy."""
    try:
        read()
    except ImportRefused as refused:
        _check(refused.problems)


def _rolled_back(ground: Ground, use: Callable[[Session, Study], None]) -> None:
    with ground.database.writing() as session:
        use(session, studies.open_or_make(session, NOW))
        session.rollback()


def _read_run(ground: Ground, data: bytes) -> None:
    def use(session: Session, study: Study) -> None:
        report = imports.examine(session, study, imports.read(NAME, data))
        _check(report.problems)
        stored = store(session, study, report.read)
        session.flush()
        assert stored_summaries.check(session) == []
        rule = reports.rule_of(session, study)
        # One of them each time: a spreadsheet takes longer than all the rest.
        names = sorted(exports.FORMATS)
        exports.export(session, study, stored.id, rule, names[len(data) % len(names)])

    _refusing(lambda: _rolled_back(ground, use))


def _read_ratings(ground: Ground, data: bytes) -> None:
    def use(session: Session, study: Study) -> None:
        form = file_formats.recognised(NAME, data)
        if form is not file_formats.FileFormat.RATINGS:
            return
        opened = file_formats.read_file(form, NAME, data)
        if isinstance(opened.content, ImportRefused):
            _check(opened.content.problems)
            return
        assert isinstance(opened.content, OfflineRatings)
        visited = ratings.examine(session, study, opened.content, NOW)
        report = ratings.store(session, study, opened.content, NOW, confirmed=True)
        session.flush()
        for each in (visited, report):
            _check(each.problems)
        assert stored_summaries.check(session) == []

    _rolled_back(ground, use)


def _read_csv(ground: Ground, data: bytes) -> None:
    _check(csv_ratings.read("rated.csv", data).problems)

    def use(session: Session, study: Study) -> None:
        rated_imports.compare(session, study, "rated.csv", data, [ground.run_id])

    _rolled_back(ground, use)


def _read_pack(_ground: Ground, data: bytes) -> None:
    try:
        with proof_pack.opened("pack.zip", io.BytesIO(data)) as pack:
            verification.verify(pack)
    except ImportRefused as refused:
        for language in LANGUAGES:
            with speaking(language):
                _check_words(refused.line())


def _score(gold: bytes, results: bytes, manual: bytes) -> None:
    files = (
        NamedBytes("gold.json", gold),
        NamedBytes("results.json", results),
        NamedBytes("manual.json", manual),
    )
    _refusing(lambda: _check(scoring.constraint_scoring(*files)[1]))


def _read_gold(_ground: Ground, data: bytes) -> None:
    _refusing(lambda: gold_questions.read(NAME, data))
    _score(data, gold_files.v2_file(), samples.as_bytes(samples.MANUAL))


def _read_listed(_ground: Ground, data: bytes) -> None:
    _score(gold_files.gold_bytes(), data, samples.as_bytes(samples.MANUAL))


def _read_manual(_ground: Ground, data: bytes) -> None:
    _score(gold_files.gold_bytes(), gold_files.v2_file(), data)

    def both() -> None:
        manual_files = {"a": data, "b": samples.as_bytes(samples.MANUAL)}
        runs = [
            agreement.judged_run(name, gold_files.v2_file(), manual)
            for name, manual in manual_files.items()
        ]
        _check(agreement.compare(runs).problems)

    _refusing(both)


def _scored(kind: Scored) -> Read:
    def read(_ground: Ground, data: bytes) -> None:
        for settings in (ScoringSettings(kind), ScoringSettings(kind, keep_citations=True)):
            with WaitingRows() as rows:
                files = [NamedBytes(NAME, data)]
                score = partial(scoring.score, settings, files, rows)
                _refusing(lambda score=score: _check([*map(Problem.stored, score().problems)]))  # type: ignore[misc]

    return read


def _read_outputs(_ground: Ground, data: bytes) -> None:
    """Read JSON Lines as outputs, and as a dev set."""
    items = scored_files.JSON_SET
    listed = [
        {name: item[name] for name in ("id", "question", "expected")} for item in items["items"]
    ]
    question_file = samples.as_bytes(listed)
    provenance = {name: value for name, value in items.items() if name != "items"}
    provenance["eval_set_version"] = json_answers.eval_set_version("questions", listed)

    def both() -> None:
        outputs = io.BytesIO(data)
        answered = expected_json.join(
            "questions.json", question_file, "outputs.jsonl", outputs, provenance=provenance
        )
        _check(answered.problems)

    _refusing(both)
    _refusing(lambda: expected_json.read_subset("subset.json", data))


def _read_mapping(_ground: Ground, data: bytes) -> None:
    try:
        mapping = mappings.read(NAME, data)
        mappings.filled(mapping.headers)
        json.dumps(mapping.body(ASKED))
        mapping.read(samples.ANSWERED, ASKED)
    except (mappings.UnusableMapping, mappings.MissingKey) as refused:
        _check_words(refused.line())
    except CallFailed as failed:
        _check_words(str(failed))


def _read_answered(_ground: Ground, data: bytes) -> None:
    """Read what a chatbot sends back, once it is JSON at all."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return
    for mapping in (_MAPPING, mappings.CONTRACT, mappings.openai("m", {})):
        try:
            mapping.read(document, ASKED)
        except CallFailed as refused:
            _check_words(str(refused))


_MAPPING = mappings.read(NAME, samples.as_bytes(samples.MAPPING))
_JSON = mutations.by_structure_or_bytes(mutations.spoiled_json)
_LINES = mutations.by_structure_or_bytes(mutations.spoiled_lines)
_CSV = mutations.by_structure_or_bytes(mutations.spoiled_csv)


def _refused_if_wrong(read: Callable[[str, bytes], object]) -> Read:
    return lambda _ground, data: _refusing(lambda: read(NAME, data))


FORMATS: Mapping[str, tuple[Spoil, Read]] = {
    "runs": (_JSON, _read_run),
    "collections": (_JSON, _refused_if_wrong(json_runs.read_collected)),
    "questions": (_JSON, _refused_if_wrong(questions.read)),
    "gold": (_JSON, _read_gold),
    "listed": (_JSON, _read_listed),
    "manual": (_JSON, _read_manual),
    "ratings": (_JSON, _read_ratings),
    "csv": (_CSV, _read_csv),
    "packs": (mutations.spoiled_zip, _read_pack),
    "answers": (_LINES, _scored(Scored.ANSWERS)),
    "chunks": (_LINES, _scored(Scored.CHUNKS)),
    "json-v2": (_JSON, _scored(Scored.JSON)),
    "outputs": (_LINES, _read_outputs),
    "mappings": (_JSON, _read_mapping),
    "chatbot": (_JSON, _read_answered),
}


@pytest.fixture(name="ground", scope="module")
def _ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    database = Database(sqlite_url(tmp_path_factory.mktemp("files") / "files.sqlite"))
    database.prepare()
    run = samples.run("hybrid", "test_results.json")
    with open_study(database) as (session, study):
        report = imports.examine(session, study, imports.read(NAME, run))
        run_id = store(session, study, report.read).id
    csvs, pack = samples.rated(database)
    valid = {**samples.FILES, "ratings": [samples.ratings(run)], "csv": csvs, "packs": [pack]}
    yield Ground(database, run_id, valid)
    database.close()


@pytest.mark.parametrize("name", FORMATS)
@given(random=st.randoms(use_true_random=False))
def test_a_spoiled_file_is_read_or_refused(ground: Ground, name: str, random: Random) -> None:
    """A refusal names the file; a message is whole in every language; what is stored adds up."""
    spoil, read = FORMATS[name]
    read(ground, spoil(random.choice(ground.valid[name]), random))
