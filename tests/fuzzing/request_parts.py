"""Numbers, languages, headers, types and bodies that requests are made of."""

from __future__ import annotations

NUMBERS = (
    "1e999999999",
    "0",
    "-1",
    "1",
    "2",
    "2147483647",
    "2147483648",
    "9" * 19,
    "9" * 40,
    "9" * 5_000,
    "1.5",
    "٣",
)


LANGUAGES = (
    "id",
    "en",
    "xx",
    "",
    "*",
    "en;q=x",
    ";;;",
    "en-" + "x" * 5_000,
    "id,en;q=9",
    "\xff",
    ",",
    "q=",
)


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


TYPES = (
    *("application/x-www-form-urlencoded", "multipart/form-data", "multipart/form-data; boundary="),
    *(
        "multipart/form-data; boundary=x",
        "application/json",
        "text/plain",
        "",
        "x",
        "a/b; charset=\xff",
    ),
    *("application/x-www-form-urlencoded; charset=utf-16", "multipart/mixed; boundary=x"),
)


BODIES = (
    *(b"", b"a=%ff&b=%", b"{}", b"[1", b"--x\r\n", b"=&=&&;", b"\xff\xfe", b"&" * 5_000),
    *(b"--x\r\nContent-Disposition: form-data", b"a" * 100_000),
)


METHODS = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "X")
