"""Texts, values and bytes that nobody meant, which files and requests are spoiled with."""

from __future__ import annotations

from typing import Any

HUGE = "9" * 400
MARK = "\ue000"
"""Stands in a JSON text for what no JSON writer would write."""

# fmt: off
RAW = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999", "1e999999999", HUGE, f"-{HUGE}",
    "-0", "0.1e", "9" * 5_000, f"0.{HUGE}", "1" + "0" * 30, "01", "tru", "{}{}", "[", "}", ",",
    '"\\ud800"',
)

TEXTS = (
    "", " ", "\t\n", "\x00", "a\x00b", "\ud800", "a\udc80", "\ufeff", "\u202e\u2066", "\x1b[31m",
    "é", "e\u0301", "ß", "İ", "ﬁ", "😀", "👩‍👩‍👧", "\u2028", "\u0e33" * 20, "日本", "٣", "²", "½",
    "१२", "\N{MATHEMATICAL BOLD DIGIT NINE}", "<script>alert(1)</script>", "{{7*7}}", "%(file)s",
    "%s%n%d", "{0}", "${x}", "'; DROP TABLE--", "=1+1", "@SUM(1)", "-1", "+1", "../../etc/passwd",
    "C:\\CON", "a/b\\c", "file:///etc/passwd", "javascript:alert(1)", "http://[::1",
    "http://[]/properti/a", "https://x:99999/properti/a", "https://x.example/properti/", "//x",
    "http://", "http://a\nb", "http://é.example/%zz", "NaN", "inf", "-inf", "1e999", "nan%", "0",
    "-0", "00", "0x10", "1_000", "1,000.5", "1.000,5", "Rp 1.670.000.000", "Rp 1,5 M", "Rp 800 jt",
    "Rp 0", f"Rp {HUGE}", "Rp 1,5,5,5 M - jt", "Rp", "null", "None", "true", "[]", "{}",
    "2026-02-30", "2026-03-01T00:00:00+99:00", "9999-12-31", "0001-01-01T00:00:00+23:59",
    "20260301_090000", "-1e400", "1e999999999", "1e-999999999", "1/3", HUGE, "1" * 31,
    "\N{ARABIC-INDIC DIGIT ONE}" * 12,
)

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 5, 6, 2**31 - 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 0.0, -0.0,
    0.1, 1.5, 1e-320, 1e308, -1e308, 1e22, 5.0, [], {}, [[]], [{}], [None], {"": None},
    {"a": {"b": {}}}, [1, "a", None, {}], "1", "0", "unsure", "correct_empty", "ABSTAIN",
)

BYTES = (
    b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80", b"\xc0\x80", b"\r", b"\n", b"\r\n", b'"', b"'", b"\\", b"\\u", b"\\ud83d",
    b"{", b"}", b"[", b"]", b",", b":", b";", b"\t", b"\x1a", b"\x85", b"\xe2\x80\xa8",
    b"PK\x03\x04",
)

NUMBERS = (
    "1e999999999", "0", "-1", "1", "2", "2147483647", "2147483648", "9" * 19, "9" * 40,
    "9" * 5_000, "1.5", "٣",
)

LANGUAGES = (
    "id", "en", "xx", "", "*", "en;q=x", ";;;", "en-" + "x" * 5_000, "id,en;q=9", "\xff", ",",
    "q=",
)
# fmt: on

HEADERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("HX-Request-Type", ("partial", "partial", "partial", "full", "", "PARTIAL", "x" * 2_000)),
    ("HX-Request", ("true", "false", "\xff")),
    ("Accept-Language", LANGUAGES),
    ("Sec-Fetch-Site", ("same-origin", "none", "cross-site", "", "\xe9")),
    ("Origin", ("http://localhost", "null", "http://[::1", "https://x.example", "", "x")),
    ("Referer", ("http://localhost/", "javascript:alert(1)", "http://[", "/runs/", "\xff")),
    (
        "Host",
        ("localhost", "localhost:99999", "[::1", "x.example", "a b", "\xe9", "", "localhost:x"),
    ),
    ("X-Forwarded-For", ("1.2.3.4", "::1, x", ",", "999.1.1.1", "fe80::1%eth0")),
    ("X-Forwarded-Proto", ("https", "javascript", "")),
    ("Forwarded", ("for=x", "host=[")),
    (
        "Range",
        ("bytes=0-1", "bytes=9-1", "bytes=a-b", "bytes=-", "lines=1-2", f"bytes={'9' * 400}-"),
    ),
    ("If-None-Match", ("*", '"x"', "W/", '"')),
    ("If-Modified-Since", ("x", "Thu, 01 Jan 1970 00:00:00 GMT", "9999")),
    ("Accept-Encoding", ("gzip", "gzip;q=x", "*;q=0", "br, gzip;q=2", "\xff")),
    ("Accept", ("*/*", "x/y;q=z", "")),
    ("Relevansi-Rater", ("x", "", "0" * 16)),
    ("X-CSRFToken", ("x", "")),
    ("User-Agent", ("", "x" * 9_000, "\xff")),
    ("Content-Encoding", ("gzip", "x")),
    ("Transfer-Encoding", ("chunked", "x")),
    ("X-HTTP-Method-Override", ("DELETE",)),
)

# fmt: off
TYPES = (
    "application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary=",
    "multipart/form-data; boundary=x", "application/json", "text/plain", "", "x",
    "a/b; charset=\xff", "application/x-www-form-urlencoded; charset=utf-16",
    "multipart/mixed; boundary=x",
)

BODIES = (
    b"", b"a=%ff&b=%", b"{}", b"[1", b"--x\r\n", b"=&=&&;", b"\xff\xfe", b"&" * 5_000,
    b"--x\r\nContent-Disposition: form-data", b"a" * 100_000,
)

METHODS = (
    "GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "X",
)
# fmt: on
