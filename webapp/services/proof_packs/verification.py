"""A proof pack recomputed from what lies in it: equal, or which files and figures differ.

The chain goes from the events to the current verdicts, from those to the figures under every
rule, and from both to every other file. Every difference is reported with the figures that it
would change. It needs no database.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from webapp.exporters.exports.metrics_tables import metrics_json
from webapp.i18n import SOURCE_LANGUAGE, speaking
from webapp.importers.proof_packs import files as members
from webapp.importers.proof_packs.files import MemberFault, ReadMember
from webapp.importers.proof_packs.pack import ManifestRun, ProofPack, UnreadableMember
from webapp.metrics.comparisons.significance import Resampling
from webapp.metrics.proof_packs import proof_files
from webapp.metrics.proof_packs.evidence import SetQuestion, ShownRun, Thing
from webapp.services.proof_packs import (
    differences as pack_differences,
)
from webapp.services.proof_packs import (
    members as pack_members,
)
from webapp.services.proof_packs import (
    packed_evidence,
    rereading,
)
from webapp.services.proof_packs.differences import (
    DifferenceKind,
    Differences,
    Found,
    PackDifference,
    Place,
    Value,
)
from webapp.services.proof_packs.members import Otherwise
from webapp.services.proof_packs.packed_evidence import PackedJudgments, PackedRuns

ResultT = TypeVar("ResultT")

MOST_RESAMPLES = 100_000
"""A comparison drawn more often is not drawn again: it would take an hour."""

_KEYS = {proof_files.JUDGMENTS: slice(2, 4)}
"""Which columns name a line of a CSV member, where it is not the first."""

_TREC_VALUES = {proof_files.QRELS: slice(3, 4), proof_files.RUN_FILE: slice(3, 6)}


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of verifying a pack.

    ``fingerprint`` is the SHA-256 of its manifest. ``files`` and ``figures`` count those
    compared; ``left_out`` counts differences beyond those kept.
    """

    name: str
    fingerprint: str
    version: str
    created_at: datetime
    study: str
    rule: str
    runs: tuple[str, ...]
    files: int
    figures: int
    differences: tuple[PackDifference, ...]
    left_out: int

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


def verify(pack: ProofPack) -> Verification:
    """Return the differences between the members of `pack` and those made from its verdicts."""
    with speaking(SOURCE_LANGUAGE):
        work = _Work(pack)
        work.do()
    manifest = pack.manifest
    return Verification(
        name=pack.name,
        fingerprint=pack.fingerprint,
        version=manifest.product.version,
        created_at=manifest.created_at,
        study=manifest.study,
        rule=manifest.rule,
        runs=tuple(run.run for run in manifest.runs),
        files=len(manifest.files),
        figures=work.figures,
        differences=tuple(work.differences.found),
        left_out=work.differences.left_out,
    )


class _Work:
    """One verification under way."""

    def __init__(self, pack: ProofPack) -> None:
        self.pack = pack
        self.manifest = pack.manifest
        self.differences = Differences()
        self.figures = 0
        self._stated: dict[str, Any] = {}
        self._known: set[Found] = set()
        self._runs = {run.run: run for run in self.manifest.runs}
        self._raters = list(dict.fromkeys(self.manifest.raters))

    def do(self) -> None:
        """Compare everything, the hashes first."""
        self._hashes()
        self._names()
        lists = list(self._lists())
        said = self._said()
        if said is None:
            return
        settled = self._settled()
        judged = PackedRuns(lists, self._raters, said, settled)
        self._beyond(judged, said)
        replayed = self._replayed(judged, said)
        others = PackedRuns(lists, self._raters, replayed, settled) if replayed else None
        for run in lists:
            self._run(self._runs[run.run], judged, others)
        self._comparisons(judged)

    def _hashes(self) -> None:
        listed = {file.name: file.sha256 for file in self.manifest.files}
        for name in sorted(self.pack.names - set(listed) - {proof_files.MANIFEST}):
            self._add(DifferenceKind.UNLISTED, name)
        for name, stated in listed.items():
            if name not in self.pack.names:
                self._add(DifferenceKind.MISSING, name)
                continue
            found = self._tried(partial(self.pack.digest, name))
            if found is not None and found != stated:
                self._add(DifferenceKind.HASH, name, (), stated, found, proof_files.MANIFEST)

    def _names(self) -> None:
        """Report names that the manifest has twice, and a rule without its rater."""
        named = [("raters", self.manifest.raters), ("runs", [r.run for r in self.manifest.runs])]
        for what, names in named:
            for name, times in Counter(names).items():
                if times > 1:
                    self._add(DifferenceKind.CELL, proof_files.MANIFEST, (what, name), times, 1)
        rules = {f"rater {name}" for name in self._raters} | {"majority", "adjudicated"}
        if self.manifest.rule not in rules:
            self._add(
                DifferenceKind.CELL,
                proof_files.MANIFEST,
                ("rule",),
                self.manifest.rule,
                None,
                "raters",
            )

    def _lists(self) -> Iterator[ShownRun]:
        """Yield the lists of each run whose lists and questions can be read."""
        sets: dict[str, Mapping[int, SetQuestion] | None] = {}
        for run in self._runs.values():
            if run.question_set not in sets:
                sets[run.question_set] = self._questions(run.question_set)
            asked = sets[run.question_set]
            if asked is None:
                continue
            found = self._tried(partial(members.lists, self.pack, run, asked))
            if found is not None:
                shown, faults = found
                self._faults(faults)
                yield shown

    def _questions(self, question_set: str) -> Mapping[int, SetQuestion] | None:
        found = self._tried(partial(members.questions, self.pack, question_set))
        if found is None:
            return None
        return {question.position: question for question in self._values(found)}

    def _said(self) -> PackedJudgments | None:
        given = self._tried(partial(members.verdicts, self.pack))
        rated = self._tried(partial(members.ratings, self.pack))
        if given is None or rated is None:
            return None
        verdicts, ratings = self._values(given), self._values(rated)
        self._twice(proof_files.VERDICTS, ((v.rater, *_told(v.thing)) for v in verdicts))
        self._twice(proof_files.RATINGS, ((r.rater, r.run, str(r.query_id)) for r in ratings))
        return packed_evidence.stated(verdicts, ratings)

    def _settled(self) -> Mapping[Thing, str]:
        found = self._tried(partial(members.settled, self.pack))
        settled = () if found is None else self._values(found)
        self._twice(proof_files.ADJUDICATIONS, (_told(one.thing) for one in settled))
        return {one.thing: one.verdict for one in settled}

    def _twice(self, file: str, places: Iterable[Place]) -> None:
        for place, times in Counter(places).items():
            if times > 1:
                self._add(DifferenceKind.VERDICT, file, place, times, 1)

    def _beyond(self, judged: PackedRuns, said: PackedJudgments) -> None:
        """Report judgments by a rater, or on a thing, that the pack does not have."""
        for (rater, thing), verdict in said.verdicts.items():
            if rater not in self._raters or not judged.shows(thing):
                place = (rater, *_told(thing))
                self._add(
                    DifferenceKind.VERDICT, proof_files.VERDICTS, place, verdict, None, "lists.csv"
                )
        for rater, (run, query_id) in {**said.quality, **said.notes}:
            if rater not in self._raters or not judged.answers(run, query_id):
                place = (rater, run, f"query_id {query_id}")
                self._add(
                    DifferenceKind.VERDICT, proof_files.RATINGS, place, "-", None, "lists.csv"
                )

    def _replayed(self, judged: PackedRuns, said: PackedJudgments) -> PackedJudgments | None:
        """Return the verdicts that the events make, ``None`` if they equal the stated ones."""
        events = self._tried(partial(members.events, self.pack))
        if events is None:
            return None
        found = packed_evidence.replayed(self._values(events))
        before = self.differences.count
        verdicts = ((key, key[1]) for key in (*said.verdicts, *found.verdicts))
        for key in dict.fromkeys(key for key, thing in verdicts if judged.shows(thing)):
            place = (key[0], *_told(key[1]))
            values = said.verdicts.get(key), found.verdicts.get(key)
            self._if_differs(proof_files.VERDICTS, place, *values)
        for name in ("quality", "notes"):
            stated, made = getattr(said, name), getattr(found, name)
            for key in dict.fromkeys(k for k in (*stated, *made) if judged.answers(*k[1])):
                place = (key[0], key[1][0], f"query_id {key[1][1]}", name)
                self._if_differs(proof_files.RATINGS, place, stated.get(key), made.get(key))
        return found if self.differences.count > before else None

    def _if_differs(self, file: str, place: Place, stated: Value, made: Value) -> None:
        if stated != made:
            values = pack_differences.scalar(stated), pack_differences.scalar(made)
            self._add(DifferenceKind.VERDICT, file, place, *values, proof_files.EVENTS)

    def _run(self, run: ManifestRun, judged: PackedRuns, others: PackedRuns | None) -> None:
        """Compare the members of one run with those made from the verdicts."""
        stated = self._tried(partial(self.pack.json, _name(run, proof_files.FIGURES)))
        computed = pack_members.figures(judged, run.run)
        self.figures += pack_differences.numbers(computed)
        self._stated = stated if isinstance(stated, dict) else computed
        self._known = set(pack_differences.documents(self._stated, computed))
        if stated is not None:
            self._figures(run, stated, computed, proof_files.VERDICTS)
        if others is not None:
            made = pack_members.figures(others, run.run)
            self._changed(run, self._stated, made, proof_files.EVENTS)
        if self.manifest.rule not in judged.by_rule:
            return
        self._tables(run, judged)
        self._trec_files(run, judged)
        self._run_json(run, judged)

    def _tables(self, run: ManifestRun, judged: PackedRuns) -> None:
        rule = self.manifest.rule
        for member, computed in pack_members.tables(judged, run.run, rule).items():
            keys = _KEYS.get(member, slice(1))
            differing = partial(pack_differences.tables, keys=keys)
            stated = self._compared(run, member, computed, differing)
            if stated is not None and member == proof_files.JUDGMENTS:
                report = judged.report(run.run, rule)
                self._effect(run, member, judged, rereading.of_judgments(stated, report))

    def _trec_files(self, run: ManifestRun, judged: PackedRuns) -> None:
        rule = self.manifest.rule
        for member, computed in pack_members.trec_files(judged, run.run, rule).items():
            values = _TREC_VALUES[member]
            differing = partial(pack_differences.trec_files, values=values)
            stated = self._compared(run, member, computed, differing)
            if stated is not None and member == proof_files.QRELS:
                shown, report = judged.runs[run.run], judged.report(run.run, rule)
                self._effect(run, member, judged, rereading.of_qrels(stated, shown, report))

    def _run_json(self, run: ManifestRun, judged: PackedRuns) -> None:
        name = _name(run, proof_files.RUN_JSON)
        stated = self._tried(partial(self.pack.json, name))
        if stated is None:
            return
        rule = self.manifest.rule
        computed = pack_members.run_json(judged, run, rule)
        compared = pack_differences.only(stated, computed)
        before = self.differences.count
        found = pack_differences.documents(compared, computed)
        self.differences.add_all(DifferenceKind.CELL, name, proof_files.VERDICTS, found)
        if self.differences.count > before:
            report = judged.report(run.run, rule)
            otherwise = rereading.of_run_json(stated, report)
            self._effect(run, proof_files.RUN_JSON, judged, otherwise)

    def _compared(
        self,
        run: ManifestRun,
        member: str,
        computed: bytes,
        differing: Callable[[bytes, bytes], Iterator[Found]],
    ) -> bytes | None:
        """Return a member that differs from `computed`, and report it; else ``None``."""
        name = _name(run, member)
        stated = self._tried(partial(self.pack.read, name))
        if stated is None or stated == computed:
            return None
        try:
            found = list(differing(stated, computed)) or [((), "other bytes", "")]
        except ValueError as broken:
            self._add(DifferenceKind.UNREADABLE, name, (), pack_differences.scalar(str(broken)))
            return None
        self.differences.add_all(DifferenceKind.CELL, name, proof_files.VERDICTS, iter(found))
        return stated

    def _effect(
        self, run: ManifestRun, member: str, judged: PackedRuns, otherwise: Otherwise
    ) -> None:
        """Report the figures that the judgments of one member would change."""
        if not otherwise:
            return
        rule = self.manifest.rule
        report = judged.report(run.run, rule)
        made = pack_members.judged_otherwise(report, otherwise)
        stated = {rule: self._stated.get(rule)}
        self._changed(run, stated, {rule: metrics_json(made)}, _name(run, member))

    def _figures(self, run: ManifestRun, stated: object, computed: object, source: str) -> None:
        found = pack_differences.documents(stated, computed)
        self.differences.add_all(
            DifferenceKind.FIGURE, _name(run, proof_files.FIGURES), source, found
        )

    def _changed(self, run: ManifestRun, stated: object, made: object, source: str) -> None:
        """Report the figures that `source` changes, unless the verdicts change them likewise."""
        found = pack_differences.documents(stated, made)
        new = (one for one in found if one not in self._known)
        self.differences.add_all(
            DifferenceKind.FIGURE, _name(run, proof_files.FIGURES), source, new
        )

    def _comparisons(self, judged: PackedRuns) -> None:
        if self.manifest.scope != "study":
            return
        sets: dict[str, list[str]] = {}
        for run in judged.runs.values():
            sets.setdefault(run.question_set, []).append(run.run)
        for question_set, runs in sets.items():
            if len(runs) > 1 and self.manifest.rule in judged.by_rule:
                self._comparison(question_set, runs, judged)

    def _comparison(self, question_set: str, runs: list[str], judged: PackedRuns) -> None:
        name = proof_files.of_comparison(question_set)
        stated = self._tried(partial(self.pack.json, name))
        if stated is None:
            return
        settings = _settings(stated)
        if settings is None:
            self._add(DifferenceKind.UNREADABLE, name, ("settings",))
            return
        names = _run_names(stated)
        computed = pack_members.comparison(judged, runs, names, self.manifest.rule, settings)
        if isinstance(stated, dict):  # an older pack has no such figures
            older = [key for key in pack_members.SINCE_THEN if key not in stated]
            computed = {key: value for key, value in computed.items() if key not in older}
        self.figures += pack_differences.numbers(computed)
        compared = pack_differences.only(stated, computed)
        found = pack_differences.documents(compared, computed)
        self.differences.add_all(DifferenceKind.FIGURE, name, proof_files.VERDICTS, found)

    def _add(
        self,
        kind: DifferenceKind,
        file: str,
        place: Place = (),
        stated: Value = None,
        computed: Value = None,
        source: str = "",
    ) -> None:
        self.differences.add(PackDifference(kind, file, place, stated, computed, source))

    def _values(self, read: ReadMember[ResultT]) -> tuple[ResultT, ...]:
        self._faults(read.faults)
        return read.values

    def _faults(self, faults: Iterable[MemberFault]) -> None:
        for fault in faults:
            self._add(DifferenceKind.UNREADABLE, fault.file, (fault.place,))

    def _tried(self, read: Callable[[], ResultT]) -> ResultT | None:
        """Return the result of `read`; ``None``, and a difference, if a member is unreadable."""
        try:
            return read()
        except UnreadableMember as wrong:
            known = any(one.file == wrong.name for one in self.differences.found)
            if wrong.name in self.pack.names or not known:
                self._add(DifferenceKind.UNREADABLE, wrong.name, (), wrong.why)
            return None


def _name(run: ManifestRun, member: str) -> str:
    return proof_files.of_run(run.run, member)


def _told(thing: Thing) -> Place:
    what = f"{thing.property_id}/{thing.content}" if thing.property_id else "empty list"
    question = f"question {thing.question_set}/{thing.position}"
    return (question, what) if thing.run is None else (question, what, f"run {thing.run}")


def _settings(stated: object) -> Resampling | None:
    """Return the resampling that a comparison states; ``None`` if absent or out of bounds."""
    settings: Any = stated.get("settings") if isinstance(stated, dict) else None
    if not isinstance(settings, dict):
        return None
    resamples, seed = settings.get("resamples"), settings.get("seed")
    confidence = settings.get("confidence")
    if type(resamples) is not int or type(seed) is not int or type(confidence) is not float:
        return None
    if not (0 < resamples <= MOST_RESAMPLES and 0 <= seed < 2**63 and 0 < confidence < 1):
        return None
    return Resampling(resamples, seed, confidence)


def _run_names(stated: object) -> dict[str, str]:
    """Return a comparison's names of its runs, by their ids."""
    runs: Any = stated.get("runs") if isinstance(stated, dict) else None
    found = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
    return {
        run["id"]: run["name"]
        for run in found
        if isinstance(run.get("id"), str) and isinstance(run.get("name"), str)
    }
