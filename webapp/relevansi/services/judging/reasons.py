"""Why an item is not relevant: the reasons that a study offers, and those that can be stored.

A reason is a key of the kind of items (``labels.REASONS`` has its words), a name that the owner
wrote, which is its own key, or ``other: `` with a rater's words. One that left the owner's list
keeps its name, by which it is still counted. It counts while the verdict beside it is not relevant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from relevansi import labels
from relevansi.failures import Refused
from relevansi.i18n import LANGUAGES, mark, speaking
from relevansi.kinds import KINDS
from relevansi.labels import OTHER
from relevansi.printable import printable_line
from relevansi.records import Relevance, Scale

MOST_REASONS = 6
"""As many as there are keys to choose them by."""
LONGEST_REASON = 40
LONGEST_WORDS = 200
"""Characters of a reason's name, and of a rater's own words."""
_OWN_WORDS = f"{OTHER}: "


class UnknownReason(Refused):
    message = mark("This study has no reason %(name)s")
    remedy = mark("Reload the page, and choose one of those that it shows.")
    program_remedy = mark(
        'Send one of the reasons of the study, or "other: " with words of at most 200 characters.'
    )


class ReasonMissing(Refused):
    message = mark("A reason is missing")
    remedy = mark("Write one, then send the form again.")


class ReasonWithoutVerdict(Refused):
    message = mark("A reason is for what is not relevant")
    remedy = mark("Send it beside a verdict below the grade that is relevant.")


class TooManyReasons(Refused):
    message = mark("These are %(name)s reasons, and %(most)s have a key")
    remedy = mark("Leave out some, or let raters write them as another reason.")


class ReasonTooLong(Refused):
    message = mark("A reason is longer than %(name)s characters")
    remedy = mark("Give it a short name.")


def offered(kind: str, listed: Sequence[str] | None) -> tuple[str, ...]:
    """Return the reasons of a study: those that its owner `listed`, else the usual of the kind."""
    return tuple(listed or KINDS[kind].reasons)


def checked(reason: str | None, kind: str, listed: Sequence[str] | None) -> str | None:
    """Return a reason as it is stored, ``None`` where it is blank; raises ``UnknownReason``."""
    text = as_stored(reason)
    if text is None or text in {*offered(kind, listed), *KINDS[kind].reasons}:
        return text
    if text.startswith(_OWN_WORDS) and len(text) <= len(_OWN_WORDS) + LONGEST_WORDS:
        return text
    raise UnknownReason(text[:LONGEST_REASON])


def check_beside(verdict: str | None, reason: str | None, scale: Scale) -> None:
    """Raise ``ReasonWithoutVerdict`` for a reason beside a verdict that it cannot belong to."""
    if reason and in_force(reason, verdict, scale) is None:
        raise ReasonWithoutVerdict


def as_stored(reason: str | None) -> str | None:
    r"""Return a reason in one line; "other: " without words is "other".

    >>> as_stored(" other:  Too\n far "), as_stored("other: "), as_stored(" ")
    ('other: Too far', 'other', None)
    """
    text = printable_line(reason or "")
    return text.removesuffix(":") if text == _OWN_WORDS.strip() else text or None


def key_of(reason: str) -> str:
    """Return the key by which a reason is counted: all in raters' own words are "other"."""
    return OTHER if reason.startswith(_OWN_WORDS) else reason


def in_force(reason: str | None, verdict: str | None, scale: Scale) -> str | None:
    """Return a reason where it counts: beside a verdict that is not relevant."""
    return reason if scale.relevances.get(verdict) is Relevance.NOT_RELEVANT else None


def from_lines(lines: Iterable[str], kind: str) -> tuple[str, ...] | None:
    """Return the reasons that an owner wrote, one a line; ``None`` for none, or the usual ones.

    What is called as a usual one in any language is that. Raises ``TooManyReasons`` and
    ``ReasonTooLong``.
    """
    usual = KINDS[kind].reasons
    keys = {key: key for key in usual}
    for code in LANGUAGES:
        with speaking(code):
            keys |= {labels.reason(key).casefold(): key for key in usual}
    names = [text for text in map(as_stored, lines) if text is not None]
    written = tuple(dict.fromkeys(key_of(keys.get(name.casefold(), name)) for name in names))
    if len(written) > MOST_REASONS:
        raise TooManyReasons(len(written), most=MOST_REASONS)
    if any(len(name) > LONGEST_REASON for name in written):
        raise ReasonTooLong(LONGEST_REASON)
    return written if written and written != usual else None
