"""The judgments of a run in the forms of other tools, which know documents by their ids."""

from __future__ import annotations

from collections import Counter

from relevansi.exporters.exports import judged_results
from relevansi.exporters.exports.judged_results import JudgedResult
from relevansi.exporters.proof_packs.pack import packed_folder
from relevansi.failures import Refused
from relevansi.i18n import gettext, mark, ngettext
from relevansi.kinds import KINDS
from relevansi.metrics.agreement.report import ItemKind
from relevansi.records import ExportedFile, Scale
from relevansi.services.agreement import agreement
from relevansi.services.exports.rated_runs import RatedRun, judged
from relevansi.services.study import studies

OWN_QUERY = mark(
    "The queries in the file only stand for yours: put your own query in the place of each request."
)


class ForCollections(Refused):
    message = mark("The format %(name)s is for studies of documents")
    remedy = mark("Take CSV, JSON or the files of TREC.")


class EqualTexts(Refused):
    message = mark("This format names questions by their texts, and two are equal: %(name)s")
    remedy = mark("Take the qrels or BEIR, which name them by their ids.")


class NotOfSpans(Refused):
    message = mark("Run %(name)s was not imported from spans, which Phoenix annotates")
    remedy = mark("Import the retriever spans that Phoenix exports, and judge those.")


class IndexUnknown(Refused):
    message = mark("The import of run %(name)s names no index, and _rank_eval needs one")
    remedy = mark("Export by the command, which takes its name.")
    command_remedy = mark("Say which: --index NAME.")


TOOLS = {
    "beir": "beir.zip",
    "srw": "srw.json",
    "phoenix": "phoenix.json",
    "rank-eval": "rank_eval.json",
    "quepid": "quepid.csv",
    "quepid-book": "quepid_book.csv",
}
"""The formats of other tools that know documents by their ids, with the names of their files."""
BY_TEXT = {"srw", "quepid", "quepid-book"}


def tool_file(rated: RatedRun, *, form: str, index: str = "") -> ExportedFile:
    """Return the judgments in one of ``TOOLS``; `index` is that of rank-eval.

    Raises ``ForCollections``, ``EqualTexts``, ``NotOfSpans`` and ``IndexUnknown``.
    """
    results, study = _of_collection(rated, form), rated.study
    scale, notes = Scale.stored(study.scale), rated.unsampled_sentence
    match form:
        case "beir":
            card = judged_results.dataset_card(
                rated.report_in_words(),
                title=studies.shown_name(study),
                guidelines=studies.guidelines(study),
                agreement=agreement.report(rated.session, study, kinds=[ItemKind.CARDS]).kinds[0],
                results=results,
            )
            data = packed_folder(judged_results.beir(results, card))
        case "srw":
            title = studies.shown_name(study)
            data = judged_results.search_relevance(results, name=title, description=rated.rated_by)
        case "phoenix":
            if not any(result.span_id for result in results):
                raise NotOfSpans(rated.run_id)
            is_machine = rated.rule.rater is not None and rated.rule.rater.is_machine
            data = judged_results.phoenix(
                results, rater=rated.rated_by, scale=scale, is_machine=is_machine
            )
        case "rank-eval":
            if not index and not all(result.index for result, _ in judged_results.graded(results)):
                raise IndexUnknown(rated.run_id)
            data = judged_results.rank_eval(results, index=index, relevant_from=scale.relevant_from)
            notes = (gettext(OWN_QUERY), *notes)
        case "quepid":
            data = judged_results.quepid(results)
        case _:
            by_rater = {name: [*judged(of_rater)] for name, of_rater in rated.by_rater().items()}
            data = judged_results.quepid_book(by_rater)
    unsure = sum(result.verdict == "unsure" for result in results)
    if unsure and form != "phoenix":
        left_out = ngettext(
            '%(n)s item is left out: "cannot tell".',
            '%(n)s items are left out: "cannot tell".',
            unsure,
        )
        notes = (left_out, *notes)
    return rated.file(TOOLS[form], data, *notes)


def _of_collection(rated: RatedRun, form: str) -> list[JudgedResult]:
    """Return the results of a run for a format of ``TOOLS``; raises what refuses that format."""
    if not KINDS[rated.study.kind].of_collection:
        raise ForCollections(form)
    results = [*judged(rated)]
    if form in BY_TEXT:
        texts = {result.query_id: result.question for result in results}.values()
        for text, n_questions in Counter(texts).items():
            if n_questions > 1:
                raise EqualTexts(text)
    return results
