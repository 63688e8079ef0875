"""Text of others reaches a log as plain lines."""

from __future__ import annotations

import logging

from relevansi.printable import LogLineFormatter, json_escaped, printable


def test_text_keeps_one_kind_of_line_end_whole_characters_and_its_meaning() -> None:
    assert printable("a\r\nb\rc\x0bd\u2028e") == "a\nb\nc\nd\ne"
    assert printable("a\ud83d\U0001f600") == "a\U0001f600"
    assert json_escaped('"a\u200eb"') == '"a\\u200eb"'


def test_a_record_is_one_line_and_its_traceback_below_it() -> None:
    failure = ValueError("bad \x07 value")
    caught = (ValueError, failure, None)
    record = logging.LogRecord(
        "relevansi", logging.ERROR, "", 0, "GET /\nforged\x1b[2J", None, caught
    )

    lines = LogLineFormatter("%(message)s").format(record).splitlines()

    assert (lines[0], lines[-1]) == ("GET / forged\ufffd[2J", "ValueError: bad \ufffd value")
