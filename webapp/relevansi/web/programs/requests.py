"""What programs send: the queries, forms and bodies of the addresses under ``/api/v1``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, MsgspecError, Struct, UnsetType, convert
from msgspec.structs import replace

from relevansi.exporters.frame.json_files import fields
from relevansi.importers.results.formats import DEPTH, MOST_DEPTH, Choices
from relevansi.importers.results.grades import plain_grade
from relevansi.importers.runs.prices import HIGHEST_PRICE
from relevansi.metrics.comparisons.gate import GateRequest
from relevansi.printable import label_line
from relevansi.records import Click, EmptyOutcome
from relevansi.services.catalogue.search import MAX_PAGE, MAX_WORDS
from relevansi.services.comparisons import gate
from relevansi.services.judging import answer_ratings
from relevansi.services.judging.answer_ratings import AnswerRating
from relevansi.services.programs.rows import Id, InPages, Text
from relevansi.services.runs.file_formats import FileDecision
from relevansi.web.frame import access
from relevansi.web.programs.operations import InvalidInput, decode_json

LongText = Annotated[str, Meta(max_length=answer_ratings.LONGEST_NOTES, pattern="^[^\\x00]*$")]
EventId = Annotated[str, Meta(min_length=1, max_length=64, pattern="^[!-~]+$")]
_RULES = "majority|adjudicated|(rater|machine) [^\\x00]+"
Rule = Annotated[str, Meta(max_length=220, pattern=f"^({_RULES})$")]
Rupiah = Annotated[int, Meta(ge=0, le=HIGHEST_PRICE)]
Reason = Annotated[str, Meta(max_length=206, pattern="^[^\\x00]*$")]
Verdict = Literal["0", "1", "2", "3", "4", "unsure", "correct_empty", "false_negative"]
FormatName = Literal["json", "markdown", "latex", "html", "docx", "xlsx"]


class RuleQuery(Struct, forbid_unknown_fields=True):
    rule: Rule | None = None


class FiguresQuery(RuleQuery):
    figures: Text = ""


class ResultsQuery(InPages):
    rule: Rule | None = None


class DepthQuery(Struct, forbid_unknown_fields=True):
    k: Annotated[int, Meta(ge=1, le=1000)] = 10


class FormatQuery(Struct, forbid_unknown_fields=True):
    format: FormatName = "json"


class ComparisonQuery(FiguresQuery):
    format: FormatName = "json"
    run: list[Text] = []
    phase: Literal[1, 2] | None = None


class FilesForm(Struct, forbid_unknown_fields=True, kw_only=True):
    """How files are read: ``columns`` is a JSON object of roles and the columns that have them.

    ``map`` is one of roles and the paths to them in JSON, with dots; ``grades`` one of grades in
    the files and what they are here. ``depth``: so many results of each list are judged. ``split``
    is one of several sets of grades. ``method`` and ``llm`` are labels where the files have none.
    """

    method: Text = ""
    llm: Text = ""
    columns: Annotated[str, Meta(max_length=10_000)] = "{}"
    map: Annotated[str, Meta(max_length=10_000)] = "{}"
    grades: Annotated[str, Meta(max_length=10_000)] = "{}"
    depth: Annotated[int, Meta(ge=1, le=MOST_DEPTH)] = DEPTH
    split: Text = ""

    def choices(self) -> Choices:
        objects = {}
        for name in ("columns", "map", "grades"):
            try:
                objects[name] = convert(decode_json(getattr(self, name), name), dict[str, str])
            except MsgspecError as error:
                raise InvalidInput(name, str(error)) from None
        return Choices(
            columns=objects["columns"] | objects["map"],
            depth=self.depth,
            split=self.split or None,
            grades={plain_grade(grade): here for grade, here in objects["grades"].items()},
        )


class ImportForm(FilesForm, kw_only=True):
    """What may be said of files to import.

    ``rater`` names whose the grades or ratings of the files are. ``metadata`` are the columns that
    raters see. ``rating`` sets how the study is rated. ``confirm`` is how many changes are meant of
    what the study has: judgments of raters whom it has, settings. Documents whose text is another
    than before are judged anew, unless they are the ``same_documents``: these have the new text,
    and verdicts on them carry over. All three take the scope everything.
    """

    rater: Text = ""
    metadata: list[Text] = []
    rating: Literal["", "blind", "open"] = ""
    confirm: Id = 0
    same_documents: bool = False

    def choices(self) -> Choices:
        return replace(super().choices(), method=self.method, llm=self.llm)

    def decision(self) -> FileDecision:
        return FileDecision(
            rater=self.rater or None,
            confirm=True,  # whatever changes is counted, and held against `confirm`
            method=label_line(self.method),
            llm=label_line(self.llm),
            grader=self.rater,
            meta=self.metadata or None,
            same_documents=self.same_documents,
        )


class CatalogueForm(Struct, forbid_unknown_fields=True):
    """Files add to the catalogue or bring it up to date, replace it, or remove what they have."""

    mode: Literal["add", "replace", "remove"] = "add"


class CatalogueQuery(Struct, forbid_unknown_fields=True):
    """The words ``q`` that an item has, the last one as a beginning, and what narrows listings.

    ``place`` is words, too, or several places with commas between, of which one is enough.
    """

    q: Annotated[str, Meta(max_length=MAX_WORDS)] = ""
    type: Text | None = None
    offer: Literal["sale", "rent"] | None = None
    place: Text | None = None
    price_from: Rupiah | None = None
    price_to: Rupiah | None = None
    bedrooms: Id | None = None
    start: Id = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_PAGE)] = 20


class GateForm(FilesForm, kw_only=True):
    """What a gate is asked: a run to compare with, and what the new one has to keep to.

    ``floor`` is as "nDCG@10=0.6". ``figures`` decide, with commas between: those that the study
    shows first, unless named. ``min_judged`` is the share to be judged where the lists differ,
    ``tolerance`` a loss that has to be ruled out. ``strict`` asks a floor of the interval's lower
    end. ``allow_missing`` leaves out questions that the run lacks. ``ask`` keeps the run;
    ``confirm`` is then how many changes of what the study has are meant, as of an import.
    """

    baseline: Text
    floor: list[Text] = []
    figures: Text = ""
    min_judged: Annotated[float, Meta(ge=0, le=1)] = 1.0
    tolerance: Annotated[float, Meta(ge=0)] | None = None
    strict: bool = False
    allow_missing: bool = False
    ask: bool = False
    confirm: Id = 0
    rule: Annotated[str, Meta(max_length=220, pattern=f"^({_RULES})?$")] = ""

    def request(self) -> GateRequest:
        same = ("baseline", "min_judged", "tolerance", "strict", "allow_missing", "method", "llm")
        return GateRequest(
            **fields(self, *same),
            floors=gate.floors_in(self.floor),
            figures=gate.figures_in(self.figures),
            rule=self.rule or None,
        )


class EventBody(Struct, forbid_unknown_fields=True, kw_only=True):
    """The id that makes a repeated request one event, and when and where it was given."""

    event_id: EventId
    client_time: Annotated[datetime, Meta(tz=True)] | None = None
    device: EventId | None = None
    sequence: Id | None = None

    def click(self) -> Click:
        try:
            made_at = self.client_time and self.client_time.astimezone(UTC)
        except OverflowError as error:
            raise InvalidInput("client_time", str(error)) from None
        return Click(self.event_id, access.now(), made_at, self.device, self.sequence)


class NewJudgment(EventBody, kw_only=True):
    """A verdict on an item: a grade, "unsure", an outcome of an empty list; null takes it back.

    ``reason`` says why the item is not relevant: one of the study's, or "other: " with words; null
    takes it back, and what is left out stays as it is.
    """

    item: Id
    verdict: Verdict | None
    reason: Reason | UnsetType | None = UNSET


class NewCardJudgment(EventBody, kw_only=True):
    card: Text
    verdict: Verdict | None
    reason: Reason | UnsetType | None = UNSET


class NewRating(EventBody):
    """A grade of a whole answer, 0 to 5, and notes; what is left out stays as it is."""

    quality: Annotated[int, Meta(ge=0, le=5)] | UnsetType | None = UNSET
    notes: LongText | UnsetType = UNSET
    empty_outcome: EmptyOutcome | UnsetType | None = UNSET

    def rating(self) -> AnswerRating:
        return AnswerRating(self.quality, self.notes, self.empty_outcome)


class NewTaskRating(NewRating):
    answer: Text | None = None
