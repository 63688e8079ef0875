"""The problems of gold questions and of what is checked against them, in words."""

from __future__ import annotations

from relevansi.i18n import mark

MESSAGES = {
    "properties_differ": mark(
        "%(file)s, question %(query)s: properties_count is %(claimed)s, properties listed: "
        "%(count)s. The list is followed; check that the file is complete."
    ),
    "result_without_question": mark(
        "%(file)s, question %(query)s: the gold file has no such question, so its results are "
        "left out. Add the question there if it should count."
    ),
    "decision_on_automatic": mark(
        "%(file)s, question %(query)s: people decided on its cards, although the gold file "
        "has them checked by machine. Their decisions are kept; check that they are meant."
    ),
    "gold_text_differs": mark(
        "%(file)s, question %(query)s: the run asks it in other words. It is checked all the "
        "same; see whether the numbers of the questions belong together."
    ),
    "gold_not_asked": mark(
        "%(file)s, question %(query)s: the run was not asked this question, so it counts as one "
        "without results."
    ),
    "asked_without_gold": mark(
        "%(file)s has no question %(query)s, so what the run answered to it is in no figure."
    ),
}
"""Code to message."""

WORDS = {
    "latitude": mark("a latitude from -90 to 90"),
    "longitude": mark("a longitude from -180 to 180"),
    "expected_result": mark("“has_data” or “no_data”"),
    "evaluation_mode": mark("“auto” or “manual”"),
    "v2_file": mark("V2 results (results.json, with a list of properties for each question)"),
    "counts_as_missing": mark("It counts as not on the card."),
}
"""Words that fill a message and are translated themselves."""
