"""The problems of a file as sentences in the language in force: file, place and remedy.

A `Problem` carries a code and details; its sentence is made when it is shown, so that a
stored problem can be shown in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from relevansi.failures import Refused
from relevansi.i18n import gettext, mark
from relevansi.importers.evaluations import problem_messages as of_evaluations
from relevansi.importers.gold import problem_messages as of_gold
from relevansi.importers.results import problem_messages as of_results
from relevansi.records import Problem, Severity

MESSAGES = {
    # Of a whole file, which is not used.
    "not_a_file": mark(
        "%(file)s is not a file: it is a pipe, a device or a link that leads nowhere. "
        "Save what it holds as a file and import that."
    ),
    "unreadable_file": mark(
        "%(file)s cannot be read (%(reason)s). Give yourself the right to read it, or copy it."
    ),
    "file_empty": mark("%(file)s is empty. Expected: %(expected)s. Export or copy the file again."),
    "file_too_large": mark(
        "%(file)s has %(megabytes)s MB; at most %(limit)s MB are read. "
        "Leave out what is not needed (for example api_data) or split the run."
    ),
    "not_utf8": mark(
        "%(file)s is not UTF-8 text: it looks like %(found)s. Save it as UTF-8 and try again."
    ),
    **dict.fromkeys(
        ("not_json", "unknown_format"),
        mark("%(file)s looks like %(found)s. Expected: %(expected)s. Choose that file instead."),
    ),
    "json_broken": mark(
        "%(file)s is not complete JSON: reading stops in line %(line)s, column %(column)s. "
        "The file was probably cut off or edited by hand; export or copy it again."
    ),
    "reader_stopped": mark(
        "%(file)s needs more memory or time to be read than a page gives it. Import it with "
        "`relevansi import` on the machine itself, or split it."
    ),
    "nested_too_deep": mark(
        "%(file)s is nested more than %(limit)s levels deep, which no run file is. "
        "Check that it is the right file and export it again."
    ),
    "no_queries": mark("%(file)s holds no question. Run the test again, or export it again."),
    "no_readable_query": mark(
        "Not one of the questions in %(file)s can be read. Mend the file or export it again."
    ),
    # Of one value or entry.
    "value_missing": mark(
        "%(file)s: %(place)s is missing; expected: %(expected)s. %(outcome)s "
        "Add it and import the file again."
    ),
    "value_wrong": mark(
        "%(file)s: %(place)s is wrong; found: %(found)s; expected: %(expected)s. %(outcome)s "
        "Correct it and import the file again."
    ),
    "number_not_finite": mark(
        "%(file)s: %(place)s is no usable number (not a number, infinite or far too large). "
        "%(outcome)s Write null or the true number there."
    ),
    "query_repeated": mark(
        "%(file)s: %(place)s repeats question number %(query)s. The first one is kept and "
        "this one is left out; give it its own number if both are meant."
    ),
    "question_id_repeated": mark(
        "%(file)s: %(place)s repeats question number %(query)s. Give every question its own number."
    ),
    "question_columns_unread": mark(
        "%(file)s: nothing reads %(columns)s. What is read: %(known)s."
    ),
    # Claims of a run file that are wrong, and remarks on its answers.
    **dict.fromkeys(
        ("method_differs", "llm_differs"),
        mark(
            "%(file)s says that it is of %(label)s, but its name or folder says %(found)s. Check "
            "which is right; a run can be relabelled after the import."
        ),
    ),
    "questions_missing": mark(
        "%(file)s: these question numbers are not in it: %(ids)s. They count as not run; "
        "if they were run, export the file again."
    ),
    "total_differs": mark(
        "%(file)s: total_questions is %(total)s, questions read: %(count)s. "
        "Check that the file is complete."
    ),
    "successful_differs": mark(
        "%(file)s: successful is %(claimed)s, calls that did not fail: %(count)s. "
        "The questions themselves are followed; check the file if that is not right."
    ),
    "category_missing": mark(
        "%(file)s: question %(query)s has no category. It is in no figure per category; "
        "add one if you need those."
    ),
    "count_differs": mark(
        "%(file)s, question %(query)s: results claimed by the file: %(claimed)s, cards read "
        "from the answer: %(count)s. The cards are followed; compare them with the answer."
    ),
    "card_repeated": mark(
        "%(file)s, question %(query)s: “%(title)s” is listed at ranks %(ranks)s. The same "
        "content is judged once and counts at each rank; check that the repetition is real."
    ),
    "card_without_slug": mark(
        "%(file)s, question %(query)s: no listing address at rank %(ranks)s. Such a property "
        "is recognised by its title and place only; check them."
    ),
    "description_long": mark(
        "%(file)s, question %(query)s: a description has %(count)s characters. Raters see the "
        "first %(shown)s of them; shorten it in the file if the rest matters."
    ),
    "call_failed": mark(
        "%(file)s, question %(query)s: the call to the chatbot failed (%(error)s). It counts "
        "as no success; only its quality is asked. Run it again if its results should be rated."
    ),
    "answer_unreadable": mark(
        "%(file)s, question %(query)s: results claimed by the file: %(claimed)s, but no card "
        "can be read from the answer. It is shown and left out of every figure; add its cards "
        "by hand."
    ),
    # Of ratings from a page without a server.
    "ratings_too_new": mark(
        "%(file)s was made by a newer version of Relevansi. Update this one, then import it again."
    ),
    "ratings_change_wrong": mark(
        "%(file)s: %(place)s says nothing that can be stored, or has the event id of an earlier "
        "change, and is left out. Download the ratings again from the page; do not edit the file."
    ),
    "ratings_change_edited": mark(
        "%(file)s, question %(query)s: a change has the id of one that is stored here and says "
        "something else. It is left out. Download the ratings again from the page; do not edit "
        "the file."
    ),
    "ratings_without_rater": mark(
        "%(file)s names no rater. Say who rated: --rater NAME, or the field in the import report."
    ),
    "ratings_of_no_rater": mark(
        "%(file)s is of %(name)s, who is a machine or was removed from the study. Restore the "
        "rater on the page of the raters, or name another one."
    ),
    "ratings_without_run": mark(
        "%(file)s: the run that was rated is not in this study. Import its run file first, then "
        "this file again."
    ),
    "ratings_of_two_runs": mark(
        "%(file)s: more than one run has these very answers (%(runs)s), and the file does not "
        "say which was rated. Delete the one too many, then import it again."
    ),
    "ratings_question_unknown": mark(
        "%(file)s, question %(query)s: the run has no such question, or its list is not empty "
        "here. What was said of it is not stored; check that the file is whole."
    ),
    "ratings_card_moved": mark(
        "%(file)s, question %(query)s: “%(title)s” was rated at rank %(rank)s and is at "
        "rank %(now)s here. Its verdict is stored for the card at this rank."
    ),
    "ratings_grade_unknown": mark(
        "%(file)s: the grade %(grade)s is not on this study's scale and is left out."
    ),
    "ratings_card_gone": mark(
        "%(file)s, question %(query)s: “%(title)s” at rank %(rank)s is not a card of the run "
        "here. Its verdict is not stored; judge it on the page."
    ),
    # Of rated CSVs and other tables.
    "csv_not_utf8": mark(
        "%(file)s, line %(line)s: this is not UTF-8 text. Save the file as “CSV UTF-8” in the "
        "spreadsheet and try again."
    ),
    "csv_columns_missing": mark(
        "%(file)s: its first line lacks the columns %(columns)s. Choose the right file, with its "
        "first line."
    ),
    "csv_broken_record": mark(
        "%(file)s, line %(line)s cannot be read (%(reason)s) and is left out. Close the "
        "quotation mark that is open there."
    ),
    "csv_cell_count": mark(
        "%(file)s, line %(line)s has %(cells)s cells instead of %(columns)s and is left out. "
        "Put a text that holds a comma, a semicolon or a line break in quotation marks."
    ),
    "csv_value_missing": mark(
        "%(file)s, line %(line)s: %(column)s is blank, so the line is left out. Fill it in."
    ),
    "csv_number_wrong": mark(
        "%(file)s, line %(line)s: %(column)s is “%(value)s”, so the line is left out. Write "
        "%(expected)s from %(lowest)s to %(highest)s, or leave it blank."
    ),
    "csv_figure_open": mark(
        "%(file)s, line %(line)s: the counts leave %(figure)s open between %(lowest)s and "
        "%(highest)s, so this question has none. Fill in %(column)s to have it counted."
    ),
    "csv_impossible_list": mark(
        "%(file)s, line %(line)s: no list of %(results)s results has %(relevant)s relevant ones, "
        "the first at rank %(rank)s and %(top)s in the first 5, so the line is left out. Check "
        "relevant_count, first_relevant_rank and precision_at_5, and the ranks in the notes."
    ),
    "csv_query_repeated": mark(
        "%(file)s, line %(line)s: question number %(query)s is in an earlier line too. "
        "That line counts and this one is left out. Keep one of them."
    ),
    "csv_contradiction": mark(
        "%(file)s, line %(line)s: %(column)s is %(given)s, but the other columns make it "
        "%(computed)s, which is used. Check the line."
    ),
    "csv_figures_without_count": mark(
        "%(file)s, line %(line)s: relevant_count is blank, so the question counts as not rated, "
        "although %(columns)s is filled in. Fill in relevant_count if it was rated."
    ),
    "csv_cannot_tell_differs": mark(
        '%(file)s counts "cannot tell" in another way than %(other)s: in one it is not relevant, '
        "in the other left out, so their precisions cannot be compared. Export both from studies "
        "with the same setting."
    ),
    "csv_perhaps_unrated": mark(
        "%(file)s, line %(line)s: counted as rated, with nothing relevant. The original page "
        "writes the same for a question that nobody has rated; if it is one, leave "
        "relevant_count to success blank."
    ),
    **of_gold.MESSAGES,
    **of_evaluations.MESSAGES,
    **of_results.MESSAGES,
}
"""Code to message, for every code a `Problem` may carry."""

WORDS = {
    "share": mark("a number from 0 to 1"),
    "amount": mark("a number from 0"),
    "offline_ratings": mark("ratings from a page without a server"),
    "run_file": mark("a run (test_results.json or results.json, with a list named results)"),
    "question_file": mark(
        "questions as JSON or CSV, each with id or query_id, question, category and "
        "context_dependent"
    ),
    "number": mark("a number"),
    "whole_number": mark("a whole number"),
    "number_in_range": mark("a whole number from 0 to 2147483647"),
    "text": mark("a text"),
    "empty_text": mark("an empty text"),
    "true_or_false": mark("true or false"),
    "list": mark("a list"),
    "object": mark("an object in curly brackets"),
    "null": mark("nothing (null)"),
    "other_value": mark("another kind of value"),
    "binary": mark("binary data"),
    "utf16": mark("text in UTF-16"),
    "old_encoding": mark("text in another encoding"),
    "archive": mark("a zip archive or an Excel file"),
    "pdf": mark("a PDF"),
    "image": mark("a picture"),
    "html": mark("a web page"),
    "csv": mark("a table (CSV)"),
    "json_lines": mark("JSON Lines (one object per line)"),
    "plain_text": mark("plain text"),
    "questions_of_a_set": mark("a list of questions without answers"),
    "gold_file": mark("a gold file: questions with constraints, without answers"),
    "other_object": mark("an object that holds no answers"),
    "entry_left_out": mark("The entry is left out."),
    "kept_unreadable": mark("The question is kept as an unreadable answer."),
    "value_ignored": mark("The value is ignored."),
    "file_refused": mark("Nothing of the file is used."),
    **of_gold.WORDS,
    **of_evaluations.WORDS,
    **of_results.WORDS,
}
"""Words that fill a message and are translated themselves."""

FIRST_PLACES = 5
_INDEX = re.compile(r"\[\d+\]")
_TRANSLATED = frozenset({"expected", "found", "outcome"})


class ImportRefused(Refused):
    """Nothing of a file could be used; ``problem`` is the reason, ``problems`` has all."""

    message = mark("%(name)s cannot be used")
    remedy = mark("Mend the file, or choose another.")

    def __init__(self, problem: Problem, *others: Problem) -> None:
        super().__init__(problem.file)
        self.problem = problem
        self.problems: Sequence[Problem] = (problem, *others)

    def __reduce__(self) -> tuple[type[ImportRefused], tuple[Problem, ...], dict[str, object]]:
        return type(self), tuple(self.problems), self.__dict__

    def __str__(self) -> str:
        return message(self.problem)

    def advice(self) -> str:
        """Return all problems, equal ones joined."""
        return " ".join(remark.text for remark in remarks(self.problems))

    line = advice


class UnreadableFile(ImportRefused):
    """The bytes are not readable JSON: another encoding, cut off, too large, too deep."""


class UnknownRunFormat(ImportRefused):
    """The JSON holds something other than the answers of a run."""


class UnusableQuestions(ImportRefused):
    """A question file that is not a list of questions, or has a wrong one."""


class JoinedProblem(Struct, frozen=True):
    """Equal problems of one file in one text, with how many there are and the first places."""

    severity: Severity
    text: str


def remarks(problems: Iterable[Problem]) -> tuple[JoinedProblem, ...]:
    """The problems in the language in force, those that differ in place and numbers as one."""
    equal: dict[object, list[Problem]] = {}
    for problem in problems:
        equal.setdefault(_kind(problem), []).append(problem)
    return tuple(
        JoinedProblem(first.severity, _text(first, more)) for first, *more in equal.values()
    )


def message(problem: Problem) -> str:
    """The problem, its place and its remedy, in the language in force."""
    details = {
        name: gettext(WORDS[str(value)]) if name in _TRANSLATED and value in WORDS else value
        for name, value in problem.details.items()
    }
    template = MESSAGES[problem.code]
    if problem.line is not None and "place" in details and "%(line)s" not in template:
        line = gettext("line %(n)s", n=problem.line)
        details["place"] = f"{line}, {details['place']}"
    places = {"file": problem.file, "line": problem.line, "query": problem.query_id}
    return gettext(template, **(places | details))


def to_dict(problem: Problem) -> dict[str, str | int | None]:
    """The problem as JSON prints it: severity, file, query_id, line, code and message."""
    place = {"file": problem.file, "query_id": problem.query_id, "line": problem.line}
    sentence = {"code": problem.code, "message": message(problem)}
    return {"severity": problem.severity.value, **place, **sentence}


def error(
    code: str,
    file: str,
    details: Mapping[str, str | int] = MappingProxyType({}),
    *,
    query_id: int | None = None,
    line: int | None = None,
) -> Problem:
    """A problem that loses part of the file."""
    return Problem(Severity.ERROR, code, file, query_id, line, dict(details))


def warning(
    code: str,
    file: str,
    details: Mapping[str, str | int] = MappingProxyType({}),
    *,
    query_id: int | None = None,
    line: int | None = None,
) -> Problem:
    """A problem that loses nothing, but that the file's owner should know."""
    return Problem(Severity.WARNING, code, file, query_id, line, dict(details))


def _kind(problem: Problem) -> object:
    words = {
        (name, _INDEX.sub("", value))
        for name, value in problem.details.items()
        if isinstance(value, str) and name != "ranks"
    }
    return problem.severity, problem.code, problem.file, frozenset(words)


def _text(first: Problem, more: Sequence[Problem]) -> str:
    text = message(first)
    if not more:
        return text
    places = list(dict.fromkeys(filter(None, map(_place, more))))
    first_places = ", ".join(places[:FIRST_PLACES]) + (", …" if len(places) > FIRST_PLACES else "")
    also = gettext("and %(n)s more like this", n=len(more))
    return f"{text} ({also}: {first_places})" if first_places else f"{text} ({also})"


def _place(problem: Problem) -> str:
    if problem.query_id is not None:
        return gettext("question %(n)s", n=problem.query_id)
    if problem.line is not None:
        return gettext("line %(n)s", n=problem.line)
    return str(problem.details.get("place", ""))
