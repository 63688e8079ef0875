"""The problems of results of search and RAG systems, in words."""

from __future__ import annotations

from webapp.i18n import mark

MESSAGES = {
    # Of a file.
    "results_cut_off": mark(
        "%(file)s cannot be unpacked: it is cut off, encrypted or far too large. Pack it again."
    ),
    "results_columns_missing": mark(
        "%(file)s, line %(line)s: no column is a question beside one that is a document or a "
        "text; found: %(columns)s. Say which columns they are, or rename them."
    ),
    "results_columns_twice": mark(
        "%(file)s: these columns occur twice: %(columns)s. Give each its own name."
    ),
    "results_nothing": mark(
        "%(file)s holds no list of results and no grade. Drop the results of a system with it."
    ),
    "results_splits": mark(
        "%(file)s has several sets of grades: %(splits)s. Choose one of them (--split on the "
        "command line)."
    ),
    # Of a line, which is left out.
    "results_word_count": mark(
        "%(file)s, line %(line)s has %(cells)s words instead of %(columns)s and is left out. "
        "Put blanks between them, and none in a name."
    ),
    "results_number_wrong": mark(
        "%(file)s, line %(line)s: %(place)s is “%(value)s”, which is no usable number, so the "
        "line is left out. Write a number there."
    ),
    "results_without_item": mark(
        "%(file)s, line %(line)s names no document and has no text, so it is left out. Fill in "
        "one of them."
    ),
    "results_without_id": mark(
        "%(file)s, line %(line)s is no whole entry with an id and is left out. Write the id and "
        "the text there."
    ),
    "results_grade_wrong": mark(
        "%(file)s, line %(line)s: the grade is “%(value)s” and is left out. Write a whole number "
        "from 0; grades are never rounded."
    ),
    "results_without_question": mark(
        "%(file)s, line or entry %(line)s names no question and is left out; found: %(keys)s. "
        "Add a key query, question, user_input or inputs."
    ),
    "results_without_list": mark(
        "%(file)s, line or entry %(line)s has no list of results and is left out; found: "
        "%(keys)s. Add a key results, documents or contexts."
    ),
    "results_list_of_others": mark(
        "%(file)s, line or entry %(line)s: result %(place)s is left out; found: %(found)s. Write "
        "a text, or an object with an id or a text."
    ),
    # Counted.
    "results_twice": mark(
        "%(file)s: documents or questions whose id was there before: %(count)s. The first one "
        "counts."
    ),
    "results_questions_untold": mark(
        "%(file)s: questions of which only the id is known: %(count)s. Drop the file with their "
        "texts too (topics or queries)."
    ),
    "results_question_differs": mark(
        "%(file)s: rows whose question differs from an earlier one of the same id: %(count)s. "
        "The first text counts; check the ids."
    ),
    "results_rank_against_score": mark(
        "%(file)s: lists in which a lower rank has a higher score: %(count)s. The ranks are "
        "followed; trec_eval would follow the scores."
    ),
    "results_ranks_renumbered": mark(
        "%(file)s: lists whose ranks do not count 1, 2, 3: %(count)s. Their order is kept and "
        "ranks are counted from 1."
    ),
    "results_ties": mark(
        "%(file)s: lists without ranks in which scores are equal: %(count)s. Equal ones are in "
        "falling order of their ids, as in trec_eval; state ranks to settle it."
    ),
    "results_items_twice": mark(
        "%(file)s: lists that have an item more than once: %(count)s. It counts at each rank; "
        "check that the repetition is real."
    ),
    "results_lists_missing": mark(
        "%(file)s: questions without a line: %(count)s. They count as empty lists; complete the "
        "run if the system was not asked."
    ),
    "results_without_text": mark(
        "%(file)s: %(count)s of %(of)s documents have no text (%(ids)s). Drop the collection "
        "too; raters see title, id and address else."
    ),
    "results_without_ids": mark(
        "%(file)s: results without an id: %(count)s. They are recognised by their text; export "
        "ids if texts may change."
    ),
    "results_passages": mark(
        "%(file)s: ids that have several texts: %(count)s. Ids name documents of several "
        "passages here, so each passage is judged by itself."
    ),
    "results_grades_unknown": mark(
        "%(file)s: grades of questions that are not in these files: %(count)s. They are left out."
    ),
    "results_grades_unasked": mark(
        "%(file)s: grades of questions that no run here was asked: %(count)s. They are left out."
    ),
    "results_grades_below": mark(
        "%(file)s: grades below 0, which say that nobody judged: %(count)s. They are left out."
    ),
    "results_grades_differ": mark(
        "%(file)s: grades that contradict an earlier one of the same document: %(count)s. The "
        "first one counts; name the raters in a column if both are meant."
    ),
    "results_other_depth": mark(
        "%(file)s: the run %(system)s is stored already, with the first %(stored)s results of each "
        "list to judge, and stays so. To judge %(depth)s of them, delete the run and import it "
        "again: verdicts on its results are kept."
    ),
    "results_texts_differ": mark(
        "%(file)s: documents that have another text than before under the same id: %(count)s. They "
        "are judged anew. Where they are the same documents, as with spaces or markup mended, "
        "import the files as the same documents: verdicts then carry over."
    ),
    "results_texts_kept": mark(
        "%(file)s: documents of runs that are stored already and have another text here under the "
        "same id: %(count)s. The texts that are stored stay. Where they are the same documents, "
        "import the files as the same documents: their texts are replaced, verdicts carry over."
    ),
    "results_texts_replaced": mark(
        "%(file)s: documents that had another text before under the same id: %(count)s. They have "
        "the text of these files from now on, and every verdict on them counts."
    ),
    "results_more": mark(
        "%(file)s: further lines with problems: %(count)s. Mend the first ones and try again."
    ),
}
"""Code to message."""

WORDS = {
    "results_file": mark("results of a search or RAG system, as a table, JSON or a TREC run"),
}
"""Words that fill a message and are translated themselves."""
