"""How a run was judged, in sentences: how fast, which questions, and how blind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relevansi import notation
from relevansi.i18n import gettext, ngettext
from relevansi.records import Blindness


def pace_sentence(seconds: Mapping[str, tuple[float, int]]) -> str:
    """The sentence on the median seconds per verdict of each rater; empty without any."""
    if not seconds:
        return ""
    each = (
        f"{name} {notation.seconds(1000 * value)} (n = {notation.number(n)})"
        for name, (value, n) in seconds.items()
    )
    return gettext(
        "Median time per verdict, breaks of more than 5 minutes left out: %(each)s.",
        each=", ".join(each),
    )


def unsampled_sentence(unasked: Sequence[int]) -> tuple[str, ...]:
    """The sentence on the questions of a run that are put to nobody; nothing if there is none."""
    if not unasked:
        return ()
    sentence = ngettext(
        "%(n)s question is not asked, as the study's sample did not draw it: no figure counts it, "
        "and files of ratings leave it out.",
        "%(n)s questions are not asked, as the study's sample did not draw them: no figure counts "
        "them, and files of ratings leave them out.",
        len(unasked),
    )
    return (sentence,)


def blindness_sentence(blindness: Blindness) -> str:
    """The sentences on how many verdicts and grades were given blind; empty without any."""
    verdicts, grades = blindness.verdicts, blindness.grades
    on_items = ngettext(
        "%(blind)s of %(n)s verdict was given blind (names of run and method hidden)",
        "%(blind)s of %(n)s verdicts were given blind (names of run and method hidden)",
        verdicts.n,
        blind=notation.number(verdicts.blind),
    )
    on_answers = ngettext(
        "%(blind)s of %(n)s grade of response quality was given blind",
        "%(blind)s of %(n)s grades of response quality were given blind",
        grades.n,
        blind=notation.number(grades.blind),
    )
    sentences = []
    for counts, sentence in ((verdicts, on_items), (grades, on_answers)):
        if not counts.n:
            continue
        parts = [sentence]
        if counts.last_open is not None:
            when, n = notation.zoned_moment(counts.last_open), notation.number(counts.open)
            parts.append(gettext("%(n)s with the method visible, until %(when)s", n=n, when=when))
        if counts.unknown:
            n = notation.number(counts.unknown)
            parts.append(gettext("for %(n)s it is not recorded", n=n))
        sentences.append("; ".join(parts) + ".")
    return " ".join(sentences)
