"""The problems of a row of JSON Lines, or of a set of JSON answers, in words."""

from __future__ import annotations

from relevansi.i18n import mark

MESSAGES = {
    "line_not_utf8": mark(
        "%(file)s, line %(line)s is not UTF-8 text and is left out. Save the file as UTF-8."
    ),
    "line_too_long": mark(
        "%(file)s, line %(line)s is longer than %(limit)s MB and is left out. Write one row per "
        "line."
    ),
    "line_broken": mark(
        "%(file)s, line %(line)s is not complete JSON (column %(column)s) and is left out. Write "
        "one whole object per line."
    ),
    "line_not_an_object": mark(
        "%(file)s, line %(line)s is left out; found: %(found)s; expected: %(expected)s. Write one "
        "object per line."
    ),
    "line_value_missing": mark(
        "%(file)s: %(place)s is missing; expected: %(expected)s. %(outcome)s Add "
        "it and score the file again."
    ),
    "line_value_wrong": mark(
        "%(file)s: %(place)s is wrong; found: %(found)s; expected: %(expected)s. "
        "%(outcome)s Correct it and score the file again."
    ),
    "line_similarities_count": mark(
        "%(file)s, line %(line)s is left out: claim_similarities has %(found)s numbers, the "
        "answer has this many claim sentences: %(expected)s. Give one number per claim."
    ),
    "line_id_repeated": mark(
        "%(file)s, line %(line)s repeats the id %(id)s and is left out. Keep one of them."
    ),
    "item_id_repeated": mark(
        "%(file)s: %(place)s repeats the id %(id)s. The first one is kept and this one is left "
        "out; give it its own id if both are meant."
    ),
    "line_id_unknown": mark(
        "%(file)s, line %(line)s answers %(id)s, which is no question of the set, and is left "
        "out. Check the id."
    ),
    "provenance_missing": mark(
        "%(file)s does not say where its answers come from; missing: %(names)s. Write these "
        "fields at the top of the file: a report without them cannot be repeated."
    ),
    "no_hash_prompt_sha256": mark(
        "%(file)s: prompt_sha256 is %(found)s, which is not a SHA-256. Write the 64 hexadecimal "
        "digits of the prompt's hash."
    ),
    "no_hash_eval_set_version": mark(
        "%(file)s: eval_set_version is %(found)s. Write the name of the set, @ and the 40 "
        "hexadecimal digits of its SHA-1; relevansi eval-set version FILE prints it."
    ),
    "other_eval_set": mark(
        "%(file)s was made for another set of questions: its eval_set_version is %(stated)s, "
        "%(questions)s is %(own)s. Give the questions that were asked."
    ),
    "other_prompt": mark(
        "%(file)s is not the prompt of these answers: its SHA-256 is %(own)s, theirs is "
        "%(stated)s. Give the prompt that was used."
    ),
    "key_unread": mark(
        "%(file)s: nothing reads the key %(key)s (found %(count)s times). Check its spelling; "
        "docs/scoring.md lists the keys."
    ),
    "expected_field_missing": mark(
        "%(file)s: expected.answer_example has no %(field)s in this many questions: %(count)s "
        "(%(ids)s). Nothing can match that part; add it."
    ),
    "answers_missing": mark(
        "%(file)s has no output for this many questions: %(count)s (%(ids)s). They fail as not "
        "JSON; add their outputs if they were made."
    ),
    "no_row_scored": mark(
        "Not one row of %(file)s could be scored. Check that it is the right file for this kind "
        "of evaluation."
    ),
    "too_many_rows": mark(
        "%(file)s has more than %(limit)s rows, the most that is kept here. Score it on the "
        "command line (relevansi score), which takes any number."
    ),
    "subset_ids_unknown": mark(
        "%(file)s names questions that are not in the set: %(ids)s. Use the subset that belongs "
        "to it."
    ),
}
"""Code to message."""

WORDS = {
    "cosine": mark("a number from -1 to 1"),
    "text_or_number": mark("a text or a whole number"),
    "list_of_objects": mark("a list of objects"),
    "list_of_texts": mark("a list of texts"),
    "list_of_cosines": mark("a list of numbers from -1 to 1"),
    "answers_file": mark("answers as JSON Lines, one object per line"),
    "chunks_file": mark("retrieved chunks as JSON Lines, one object per line"),
    "json_answers_file": mark("JSON answers: an object with provenance and a list named items"),
    "json_questions_file": mark("a list of questions, each with id, question and expected"),
    "subset_file": mark("a list of ids"),
    "line_left_out": mark("The line is left out."),
    "fails_as_not_json": mark("The answer fails as not JSON."),
}
"""Words that fill a message and are translated themselves."""
