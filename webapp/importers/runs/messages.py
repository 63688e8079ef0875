"""The catalogue of the problems that a file can have: code to English message id.

A message names the file, the place and the remedy. Its places in ``%(...)s`` are filled
from the problem: its file, line, query (the number of the question) and details.
"""

from __future__ import annotations

from webapp.i18n import mark

FILE_MESSAGES = {
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
    "not_json": mark(
        "%(file)s is not JSON: it looks like %(found)s. Expected: %(expected)s. "
        "Choose that file instead."
    ),
    "json_broken": mark(
        "%(file)s is not complete JSON: reading stops in line %(line)s, column %(column)s. "
        "The file was probably cut off or edited by hand; export or copy it again."
    ),
    "nested_too_deep": mark(
        "%(file)s is nested more than %(limit)s levels deep, which no run file is. "
        "Check that it is the right file and export it again."
    ),
    "unknown_format": mark(
        "%(file)s looks like %(found)s. Expected: %(expected)s. Choose that file instead."
    ),
    "no_queries": mark(
        "%(file)s holds no question: its list is empty. Run the test again and use its file."
    ),
    "csv_without_rows": mark(
        "%(file)s holds no question: no line follows its first one. Export it again."
    ),
    "no_readable_query": mark(
        "Not one of the questions in %(file)s can be read. Mend the file or export it again."
    ),
}
"""The problems that make a whole file unusable."""

VALUE_MESSAGES = {
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
    "question_columns_missing": mark(
        "%(file)s: its first line lacks the columns %(columns)s. Columns that are read: %(known)s "
        "(query_id or id is enough)."
    ),
    "question_columns_unread": mark(
        "%(file)s: nothing reads %(columns)s. What is read: %(known)s."
    ),
    "question_line_repeated": mark(
        "%(file)s, line %(line)s repeats question number %(query)s. Give every question its own "
        "number."
    ),
    "question_line_value_missing": mark(
        "%(file)s, line %(line)s: %(place)s is missing; expected: %(expected)s. %(outcome)s "
        "Fill it in and try again."
    ),
    "question_line_value_wrong": mark(
        "%(file)s, line %(line)s: %(place)s is wrong; found: %(found)s; expected: %(expected)s. "
        "%(outcome)s Correct it and try again."
    ),
}
"""The problems of one value or entry."""

RUN_MESSAGES = {
    "method_differs": mark(
        "%(file)s says its search method is %(label)s, but its name or folder says %(found)s. "
        "Check which is right; a run can be relabelled after the import."
    ),
    "llm_differs": mark(
        "%(file)s says its LLM is %(label)s, but its name or folder says %(found)s. "
        "Check which is right; a run can be relabelled after the import."
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
    "call_failed_unexplained": mark(
        "%(file)s, question %(query)s: the call to the chatbot failed, without a reason. It "
        "counts as no success; only its quality is asked. Run it again if its results should be "
        "rated."
    ),
    "answer_unreadable": mark(
        "%(file)s, question %(query)s: results claimed by the file: %(claimed)s, but no card "
        "can be read from the answer. It is shown and left out of every figure; add its cards "
        "by hand."
    ),
}
"""Claims of a run file that are wrong, and remarks on its answers for its owner."""

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
}
"""Words that fill a message and are translated themselves."""
