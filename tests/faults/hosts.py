"""Hosts of our own on one machine: network namespaces behind a bridge, to be cut off at will.

A host that is cut off is not gone in good order, as a killed server is: its connections stay
open and say nothing any more.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults.ending import at_the_end
from tests.faults.rows import CannotBeMade

NETWORK = "198.18.77"
"""Out of the range that is set apart for trying networks: nobody lives there."""
HERE = f"{NETWORK}.254"


@dataclass(frozen=True, slots=True)
class Host:
    """One host: its namespace, its address, and the cable that leads to it."""

    name: str
    address: str
    cable: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """The words before a command that make it run on this host."""
        return (_ip(), "netns", "exec", self.name)

    def cut_off(self) -> None:
        """Let nothing through to it or from it any more."""
        _run("link", "set", self.cable, "down")

    def connect(self) -> None:
        """Let everything through again."""
        _run("link", "set", self.cable, "up")


@contextmanager
def hosts(count: int) -> Iterator[Sequence[Host]]:
    """Yield so many hosts that reach each other and this one."""
    if os.geteuid() != 0:
        raise CannotBeMade("network namespaces need root")
    bridge = f"rlv{os.getpid() % 100_000}"
    made = [
        Host(f"{bridge}-{number}", f"{NETWORK}.{number}", f"{bridge}c{number}")
        for number in range(1, count + 1)
    ]

    def end() -> None:
        for host in made:
            _run("netns", "delete", host.name, is_needed=False)
        _run("link", "delete", bridge, is_needed=False)

    at_the_end(end)
    try:
        _run("link", "add", bridge, "type", "bridge")
        _run("address", "add", f"{HERE}/24", "dev", bridge)
        _run("link", "set", bridge, "up")
        for host in made:
            _plug_in(host, bridge)
        yield made
    finally:
        end()


def _plug_in(host: Host, bridge: str) -> None:
    """Make a host and its cable."""
    inside = "eth0"
    _run("netns", "add", host.name)
    peer = ("peer", "name", inside, "netns", host.name)
    _run("link", "add", host.cable, "type", "veth", *peer)
    _run("link", "set", host.cable, "master", bridge)
    _run("link", "set", host.cable, "up")
    _run("-n", host.name, "address", "add", f"{host.address}/24", "dev", inside)
    _run("-n", host.name, "link", "set", inside, "up")
    _run("-n", host.name, "link", "set", "lo", "up")


def _run(*arguments: str, is_needed: bool = True) -> None:
    done = subprocess.run([_ip(), *arguments], check=False, capture_output=True, text=True)
    if done.returncode and is_needed:
        raise CannotBeMade(f"no host of its own: ip {' '.join(arguments)}: {done.stderr.strip()}")


def _ip() -> str:
    found = shutil.which("ip")
    if found is None:
        raise CannotBeMade("iproute2 is not installed")
    return found
