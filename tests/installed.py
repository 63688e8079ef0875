"""What an installation serves, asked over its own address: ``python installed.py COMMAND...``.

`nox -s release` runs it with each way in (pip, pipx, uvx), in a folder that holds nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urljoin
from urllib.request import Request, urlopen

FORMATS = "/runs/import/formats"
PAGES = ("/", "/runs/", "/help/", "/help/own-results", "/measures/", "/service-worker.js", FORMATS)
FILE = re.compile(rf'(?:href|src)="(/(?:static|joined|{FORMATS[1:]})[^"#]*)"')
FONT = re.compile(r"url\([\"']?([^\"')]+\.woff2)")
HELP = {"id": "Bantuan", "en": "Help"}


def main() -> None:
    with TemporaryDirectory() as folder:
        files = [address for demo in ("", "--documents") for address in served(folder, demo)]
    for kind in ("htmx.min.js", "inter-latin", "/static/", FORMATS + "/"):
        assert any(kind in address for address in files), kind
    sys.stdout.write(f"both demos, both languages and {len(set(files))} files are served\n")


def served(folder: str, demo: str) -> set[str]:
    """The addresses of all files that the pages of a demo name, each of which was fetched."""
    command = [*sys.argv[1:], "demo", *filter(None, [demo]), "--no-browser", "--port", "0"]
    surroundings = {
        name: value for name, value in os.environ.items() if not name.startswith("RELEVANSI_")
    } | {"RELEVANSI_INSTANCE": str(Path(folder, "instance")), "RELEVANSI_LANGUAGE": "en"}
    process = subprocess.Popen(
        command, cwd=folder, env=surroundings, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        lines = map(re.compile(r"Relevansi is at (\S+)").match, process.stdout)
        base = next(filter(None, lines))[1]
        files = set[str]()
        for language, word in HELP.items():
            texts = {page: fetched(base, page, language) for page in PAGES}
            assert word in texts["/"], language
            files |= {address for text in texts.values() for address in FILE.findall(text)}
        for file in sorted(files):
            text = fetched(base, file, "en")
            files |= {urljoin(file, font) for font in FONT.findall(text) if ".css" in file}
        return {file for file in files if fetched(base, file, "en")}
    finally:
        process.terminate()
        process.wait()


def fetched(base: str, address: str, language: str) -> str:
    """The text at an address of a server; raises where it is not there."""
    request = Request(urljoin(base, address), headers={"Accept-Language": language})
    with urlopen(request) as answer:
        return str(answer.read().decode("utf-8", "replace"))


if __name__ == "__main__":
    main()
