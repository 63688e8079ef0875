"""What an installation carries, asked of itself in an empty folder: ``python installed.py``.

`nox -s release` runs it with each built file, by pip, pipx and uvx.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

PAGES = ("/", "/runs/", "/help/", "/help/own-results", "/measures/", "/service-worker.js")
ADDRESS = re.compile(r'(?:href|src)="(/(?:static|joined)[^"]*)"')


def main() -> None:
    from relevansi.app import create_app
    from relevansi.cli.frame.demo import prepared_demo
    from relevansi.config import resource

    assert Path.cwd() not in resource("templates").parents, "this is the folder of the project"
    for documents in (False, True):
        client = create_app(prepared_demo(documents=documents)).test_client()
        for language, word in (("id", "Bantuan"), ("en", "Help")):
            for page in PAGES:
                answer = client.get(page, headers={"Accept-Language": language})
                assert answer.status_code == 200, page
                for address in ADDRESS.findall(answer.text):
                    assert client.get(address).status_code == 200, address
            home = client.get("/", headers={"Accept-Language": language}).text
            assert word in home, language
    sys.stdout.write("both demos, every static file and both languages are there\n")


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["RELEVANSI_INSTANCE"] = str(Path(folder, "instance"))
        main()
        os.chdir(Path(sys.executable).parent)
