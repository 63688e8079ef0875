"""Text of others reaches a log as plain lines."""

from __future__ import annotations

import logging

from webapp.printable import LogLineFormatter, json_escaped, printable


def test_every_line_end_becomes_one_kind() -> None:
    assert printable("a\r\nb\rc\x0bd\u2028e") == "a\nb\nc\nd\ne"


def test_half_of_a_character_is_taken_out_and_whole_ones_stay() -> None:
    assert printable("a\ud83d\U0001f600") == "a\U0001f600"


def test_json_keeps_its_meaning() -> None:
    assert json_escaped('"a\u200eb"') == '"a\\u200eb"'


def test_a_record_is_one_line_whatever_a_name_holds() -> None:
    line = LogLineFormatter("%(message)s").format(record("GET /\nforged\x1b[2J"))

    assert line == "GET / forged\ufffd[2J"


def test_a_traceback_stays_below_its_line() -> None:
    formatter = LogLineFormatter("%(message)s")
    failure = ValueError("bad \x07 value")
    lines = formatter.format(record("failed", (ValueError, failure, None))).splitlines()

    assert lines[0] == "failed"
    assert lines[-1] == "ValueError: bad \ufffd value"


def record(text: str, failure: object = None) -> logging.LogRecord:
    return logging.LogRecord("webapp", logging.ERROR, "", 0, text, None, failure)  # type: ignore[arg-type]
