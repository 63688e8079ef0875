"""The problems of results of search and RAG systems, in words."""

from __future__ import annotations

from relevansi.i18n import mark

MESSAGES = {
    # Of a file.
    "results_cut_off": mark(
        "%(file)s cannot be unpacked: it is cut off, encrypted or far too large. Pack it again."
    ),
    "results_splits": mark(
        "%(file)s has several sets of grades: %(splits)s. Choose one of them (--split on the "
        "command line)."
    ),
    "results_nothing": mark(
        "%(file)s holds no question with a list of results, and no grade. Drop the results of a "
        "system with it."
    ),
    "results_of_figures": mark(
        "%(file)s has figures by question, and neither lists nor verdicts. Export the run again as "
        "JSON, long CSV or qrels, which can be imported. The rated CSV of a chatbot's run goes "
        "back to that run, with whole numbers as query_id."
    ),
    "results_columns_missing": mark(
        "%(file)s: no column is a question beside one that is a document or a text; found: "
        "%(columns)s. Say which columns they are (--columns query=...,doc_id=...,text=...), or "
        "rename them."
    ),
    "results_columns_twice": mark(
        "%(file)s, line %(line)s: these columns occur twice: %(columns)s. Give each its own name."
    ),
    "results_json_unknown": mark(
        "%(file)s: no question with a list of results is recognised; found: %(keys)s. This is the "
        'smallest file that works: {"query": "red dress", "results": [{"id": "d7", "text": '
        '"Long red dress"}]}. Add what is missing, such as a key query beside each list.'
    ),
    "results_json_guessed": mark(
        "%(file)s: JSON of this shape is not known; found: %(keys)s. A guess, to be confirmed: "
        "--map %(map)s (the smallest file that works without: "
        '{"query": "red dress", "results": [{"id": "d7", "text": "Long red dress"}]}).'
    ),
    "results_paths_absent": mark(
        "%(file)s: nothing stands at %(paths)s. Write each path as the file has it, with dots "
        "between the names."
    ),
    "results_own_export": mark(
        "%(file)s is an export of this program and lists properties as they were judged. Import "
        "the source file of its run; verdicts come back from a backup or as a rated CSV."
    ),
    "results_responses_alone": mark(
        "%(file)s has %(responses)s responses and no question for each; requests beside it: "
        "%(requests)s. Drop the file of the requests (.ndjson) with it, or write "
        '{"query": ..., "response": ...} for each.'
    ),
    "results_scores_wrong": mark(
        "%(file)s: %(place)s should be a number or an object of numbers; found: %(found)s. "
        "Correct it and import the file again."
    ),
    "results_printed": mark(
        "%(file)s, line or entry %(line)s: a result is a printed object, not its text: "
        "%(text)s. Write its page_content, or the object as JSON."
    ),
    "results_method_stated": mark(
        "%(file)s: the method that was given cannot name its runs, which are: %(systems)s. Leave "
        "the method out; a run can be relabelled after the import."
    ),
    "json_too_large": mark(
        "%(file)s has %(megabytes)s MB and is one JSON value, of which at most %(limit)s MB are "
        "read. Write an object per line (JSON Lines): such a file may have any size."
    ),
    "not_text": mark(
        "%(file)s is no text: it looks like %(found)s. Export the results as CSV, JSON or a TREC "
        "run."
    ),
    "encoding_assumed": mark(
        "%(file)s is not UTF-8, so it is read as Windows-1252. Check letters with accents; save "
        "the file as UTF-8 if they are wrong."
    ),
    "parquet_unsupported": mark(
        "%(file)s is a parquet file. Install relevansi[parquet] to read it, or export it as CSV."
    ),
    "workbook_too_large": mark(
        "%(file)s unpacks to more than %(limit)s MB. Export the sheet as CSV, or split it."
    ),
    # More than an import may hold.
    "results_many_cells": mark(
        "%(file)s has more than %(limit)s cells, blank ones included. Export the sheet as CSV."
    ),
    "results_many_rows": mark(
        "%(file)s has more than %(limit)s rows in a sheet. Export the sheet as CSV."
    ),
    "results_many_columns": mark(
        "%(file)s has more than %(limit)s columns. Write a row for each result of a question."
    ),
    "results_many_records": mark(
        "%(file)s brings the files to more than %(limit)s rows and results. Import fewer systems "
        "or fewer results of each list at once."
    ),
    "results_many_systems": mark(
        "%(file)s brings the files to more than %(limit)s systems. Check which column names the "
        "system, or import fewer at once."
    ),
    "results_many_questions": mark(
        "%(file)s brings the files to more than %(limit)s questions. Check which column is the "
        "question, or import a part of them."
    ),
    "results_many_metadata": mark(
        "%(file)s has more than %(limit)s names of metadata. Leave out what raters need not see."
    ),
    # Of a line or value, for which the file is refused.
    "csv_quote_open": mark(
        "%(file)s, line %(line)s: a quotation mark is opened and not closed, or text stands behind "
        "a closed one. Double the marks within a text, and close it."
    ),
    "csv_cells_differ": mark(
        "%(file)s, line %(line)s has %(cells)s cells instead of %(columns)s, so which is which is "
        "not known. Put a text that holds the separator or a line break in quotation marks."
    ),
    "csv_cell_blank": mark("%(file)s, line %(line)s: %(column)s is blank. Fill it in."),
    "results_number_wrong": mark(
        "%(file)s, line %(line)s: %(place)s is “%(value)s”, which is no usable number, so the "
        "place of the result is not known. Write a number there."
    ),
    "results_value_nested": mark(
        "%(file)s, line or entry %(line)s: %(place)s should be a text; found: %(found)s. Write the "
        "text itself there."
    ),
    "results_names_no_item": mark(
        "%(file)s, line %(line)s names no document. Fill in its id or its text."
    ),
    "results_without_id": mark(
        "%(file)s, line %(line)s is no whole entry with an id. Write the id and the text there."
    ),
    "results_word_count": mark(
        "%(file)s, line %(line)s has %(cells)s words instead of %(columns)s. Put blanks between "
        "them, and none in a name."
    ),
    "results_rank_0": mark(
        "%(file)s, line %(line)s: the rank is 0, but other lists of this file begin at rank 1. "
        "Count all of them from 0, or from 1."
    ),
    "results_rank_missing": mark(
        "%(file)s, line %(line)s has no rank, though others have one. Fill it in, or leave all out."
    ),
    "results_rank_twice": mark(
        "%(file)s, line %(line)s: rank %(rank)s stands in line %(first)s for the same question and "
        "system, too. Give each result its own; state ids of the questions if two are meant."
    ),
    "results_score_missing": mark(
        "%(file)s, line %(line)s has no score, though others have one and there is no rank, so its "
        "place is not known. Fill it in, or state ranks."
    ),
    "results_grades_unfit": mark(
        "%(file)s, line %(line)s: the grade is “%(value)s”. Grades here are whole numbers from 0 "
        "to 4, and never rounded. Say what each of the file's is here, in a table: --grades "
        "%(table)s (found: %(values)s)."
    ),
    "results_grades_apply_to_none": mark(
        "%(file)s: none of its grades is of a document in these files: %(count)s documents graded, "
        "such as %(ids)s. Check that the ids agree, or drop the collection too."
    ),
    # Of a list or result.
    "results_without_question": mark(
        "%(file)s, line or entry %(line)s names no question and is left out; found: %(keys)s. "
        "Add a key query."
    ),
    "results_without_list": mark(
        "%(file)s, line or entry %(line)s has no list of results and is left out; found: "
        "%(keys)s. Add a key results."
    ),
    "results_no_list": mark(
        "%(file)s, line or entry %(line)s: %(place)s should be a list; found: %(found)s. The list "
        "counts as unreadable, not as empty. Ask the system again, or mend the entry."
    ),
    "results_item_unreadable": mark(
        "%(file)s, line or entry %(line)s: result %(place)s cannot be read; found: %(found)s. "
        "Its rank stays and nothing moves up. Write a text, or an object with an id or a text."
    ),
    "results_without_item": mark(
        "%(file)s, line %(line)s names no document and has no text. Its rank stays, and nothing "
        "there can be judged. Fill in one of them."
    ),
    "results_ranks_partly": mark(
        "%(file)s, line or entry %(line)s: result %(place)s has no rank, though others have one "
        "that is not their place. The list counts as unreadable. State all ranks, or none."
    ),
    "results_ranks_deep": mark(
        "%(file)s, line %(line)s: a list begins at rank %(rank)s, below what is judged. It counts "
        "as unreadable. Count its ranks from 1, or choose a greater depth."
    ),
    "results_ids_chosen": mark(
        "%(file)s: several columns may be the id of the document. %(column)s is taken, not "
        "%(others)s; choose another one if that is wrong (--columns doc_id=...)."
    ),
    "workbook_date": mark(
        "%(file)s, cell %(cell)s: the id is a date to the workbook. If it is not, format the "
        "column as text and write the ids again."
    ),
    "workbook_digits": mark(
        "%(file)s, cell %(cell)s: a workbook keeps %(digits)s digits of a number, and this id has "
        "more. Format the column as text and write the ids again."
    ),
    # Counted.
    "results_scores_unusable": mark(
        "%(file)s: scores that are no number: %(count)s. The ranks are followed, and these results "
        "have no score."
    ),
    "results_ranks_equal": mark(
        "%(file)s: lists whose results all have the same rank: %(count)s. Their order is that of "
        "the scores, else that of the file."
    ),
    "results_ranks_from_0": mark(
        "%(file)s: lists whose ranks begin at 0: %(count)s. They are counted from 1 here."
    ),
    "results_holes": mark(
        "%(file)s: lists with a rank at which nothing can be read: %(count)s. The rank stays, "
        "counts as not relevant, and nothing below moves up."
    ),
    "results_ties": mark(
        "%(file)s: lists without ranks in which scores are equal: %(count)s. Equal ones are in "
        "falling order of their ids, as in trec_eval; state ranks to settle it."
    ),
    "results_ties_ranked": mark(
        "%(file)s: lists in which equal scores stand in another order than trec_eval gives them: "
        "%(count)s. The ranks are followed; trec_eval would go by falling ids."
    ),
    "results_case": mark(
        "%(file)s: questions that differ from another one in upper or lower case or width only: "
        "%(count)s. They are two questions here; write them alike if they are one."
    ),
    "workbook_filled": mark(
        "%(file)s: blank cells of a question or system that have the value above them: %(count)s."
    ),
    "workbook_formulas": mark(
        "%(file)s: columns of ids with a formula whose value was never stored: %(count)s. Open "
        "and save the workbook in a spreadsheet."
    ),
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
    "yaml": mark("YAML"),
    "arrow": mark("Feather (Arrow)"),
    "old_workbook": mark("an old Excel workbook (.xls)"),
    "results_file": mark("results of a search or RAG system, as a table, JSON or a TREC run"),
}
"""Words that fill a message and are translated themselves."""
