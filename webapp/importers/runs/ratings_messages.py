"""The problems of ratings from a page without a server: code to message."""

from __future__ import annotations

from webapp.i18n import mark

MESSAGES = {
    "ratings_too_new": mark(
        "%(file)s was made by a newer version of Relevansi. Update this one, then import it again."
    ),
    "ratings_change_wrong": mark(
        "%(file)s: %(place)s says nothing that can be stored, and is left out. Download the "
        "ratings again from the page; do not edit the file."
    ),
    "ratings_change_repeated": mark(
        "%(file)s: %(place)s has the event id of an earlier change, which counts, and is left out."
    ),
    "ratings_change_edited": mark(
        "%(file)s, question %(query)s: a change has the id of one that is stored here and says "
        "something else. It is left out. Download the ratings again from the page; do not edit "
        "the file."
    ),
    "ratings_without_rater": mark(
        "%(file)s names no rater. Say who rated: --rater NAME, or the field in the import report."
    ),
    "ratings_of_machine": mark(
        '%(file)s is of "%(name)s", which is a machine. Give another name to import it.'
    ),
    "ratings_of_removed_rater": mark(
        "%(file)s: %(name)s was removed from the study and can no longer judge. Restore them on "
        "the page of the raters, or name another rater."
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
        "%(file)s, question %(query)s: the run has no such question. Its verdicts are not "
        "stored; check that the file is whole."
    ),
    "ratings_card_moved": mark(
        "%(file)s, question %(query)s: “%(title)s” was rated at rank %(rank)s and is at "
        "rank %(now)s here. Its verdict is stored for the card at this rank."
    ),
    "ratings_card_gone": mark(
        "%(file)s, question %(query)s: “%(title)s” at rank %(rank)s is not a card of the run "
        "here. Its verdict is not stored; judge it on the page."
    ),
    "ratings_nothing_to_ask": mark(
        "%(file)s, question %(query)s: the list is not empty here, so the outcome of an empty "
        "list is not stored."
    ),
}
"""Messages of ``importers.runs.ratings`` and ``services.exports.ratings``, by their codes."""
