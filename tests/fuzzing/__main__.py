"""Put inputs in: ``python -m tests.fuzzing [--seconds N] [--seed S] [--only NAME] [-o FILE]``.

Ends with 1 if anything was found. The same seed makes the same inputs.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

from tests.fuzzing.answers import Answers, Slowness
from tests.fuzzing.files import FORMATS_READ, Files
from tests.fuzzing.kinds import Found
from tests.fuzzing.requests import Requests
from tests.fuzzing.roles import Roles
from tests.fuzzing.watching import Make, Told, watch

SECONDS = 300
LEAST_SECONDS = 1.0
WEIGHTS = {
    "requests": 12,
    "runs": 3,
    "packs": 3,
    "cards": 3,
    "linear": 3,
    "roles": 6,
}
"""The shares of the time; 1 for the others."""
KINDS: Mapping[str, Make] = {
    **{name: partial(Files, name) for name in FORMATS_READ},
    "cards": Answers,
    "linear": Slowness,
    "requests": Requests,
    "roles": Roles,
}


def main() -> None:
    """Print how many inputs of each kind were put in, and what was found."""
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--most", type=int, help="at most so many inputs of each kind")
    parser.add_argument("--only", choices=KINDS, action="append", help="one kind; may be repeated")
    parser.add_argument("--at-once", type=int, default=2, help="so many kinds at a time")
    parser.add_argument("-o", "--output", type=Path, help="a file for what was found (JSON Lines)")
    said = parser.parse_args()
    if sys.platform == "win32":
        sys.exit("The limit on memory is one of POSIX systems.")
    names = list(said.only or KINDS)
    share = said.seconds * said.at_once / sum(WEIGHTS.get(name, 1) for name in names)

    def one(name: str) -> Told:
        seconds = max(LEAST_SECONDS, share * WEIGHTS.get(name, 1))
        told = watch(
            name, KINDS[name], said.seed, seconds=seconds, first=said.first, most=said.most
        )
        _tell(told)
        return told

    with ThreadPoolExecutor(said.at_once) as pool:
        all_told = list(pool.map(one, names))
    found = [one_found for told in all_told for one_found in told.found]
    print(f"In all: {sum(told.inputs for told in all_told):,} inputs, {len(found)} found")
    if said.output:
        said.output.write_text("".join(_line(one_found) for one_found in found), "utf-8")
    sys.exit(bool(found))


def _tell(told: Told) -> None:
    print(
        f"{told.kind}: {told.inputs:,} inputs in {told.seconds:.0f} s, "
        f"at most {told.peak_mb} MB, {len(told.found)} found",
        flush=True,
    )
    for one in told.found:
        repeat = f"--only {one.kind} --seed {one.seed} --first {one.number} --most 1"
        print(f"  {one.what} ({one.place or 'nowhere of ours'}); {repeat}", flush=True)
        for line in shown(one):
            print(f"    {line}", flush=True)


def shown(one: Found) -> Sequence[str]:
    """Return what a finding tells, its traceback last and its input cut to a line."""
    return [f"{one.smallest[:300]!r} ({len(one.smallest):,} bytes)", *one.told.splitlines()[-9:]]


def _line(one: Found) -> str:
    said = asdict(one) | {"smallest": base64.b64encode(one.smallest).decode()}
    return json.dumps(said) + "\n"


if __name__ == "__main__":
    main()
