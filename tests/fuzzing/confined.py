"""Limits for a process that fuzzes: its tokens can be drawn again, and it has no network."""

from __future__ import annotations

import random
import secrets
import socket
from base64 import urlsafe_b64encode
from typing import Any

HERE = {"127.0.0.1", "::1", "localhost"}


def draw_tokens_from(seed: str) -> None:
    """Let every token of this process be drawn from the seed, so that it can be had again."""
    drawn = random.Random(f"{seed}/tokens")
    secrets.token_bytes = lambda nbytes=None: drawn.randbytes(nbytes or 32)
    secrets.token_hex = lambda nbytes=None: drawn.randbytes(nbytes or 32).hex()
    secrets.token_urlsafe = lambda nbytes=None: (
        urlsafe_b64encode(drawn.randbytes(nbytes or 32)).rstrip(b"=").decode()
    )


def no_network() -> None:
    """Let this process know no other machine."""
    known = socket.getaddrinfo

    def only_here(host: Any, *others: Any, **more: Any) -> Any:
        if host not in HERE:
            raise socket.gaierror(socket.EAI_NONAME, "no other machine is known here")
        return known(host, *others, **more)

    socket.getaddrinfo = only_here
