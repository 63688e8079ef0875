"""The server as it is started keeps away who comes from elsewhere."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.browser.server import Server

pytestmark = pytest.mark.browser

FORWARDING = (
    "Forwarded", "Via", "X-Real-IP", "X-Forwarded-For",
    "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server",
)  # fmt: skip


@pytest.mark.parametrize("header", FORWARDING)
def test_what_a_proxy_passes_on_sees_nothing_of_the_study(
    server: Server, run_id: str, header: str
) -> None:
    """The HTTP server in front of the app must not hide the headers that tell it."""
    assert run_id in _answer(Request(f"{server.url}/runs/"))
    assert run_id not in _answer(Request(f"{server.url}/runs/", headers={header: "192.0.2.1"}))


def _answer(request: Request) -> str:
    try:
        with urlopen(request, timeout=30) as response:
            return str(response.read(), "utf-8")
    except HTTPError as refusal:
        with refusal:
            return str(refusal.read(), "utf-8")
