"""Two servers behind nginx on one PostgreSQL, as docs/nginx.conf and docs/compose.yaml have them.

Nothing is sticky: any click may come to either server. Each of them, and the database, is ended
while people click; afterwards both servers show the same figures.
"""

from __future__ import annotations

import http.client
import json
import shutil
import ssl
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

from relevansi.db.migrations import HEAD
from tests.browser.server import ROOT
from tests.faults import stored
from tests.faults.clicking import HEADERS, PATIENCE
from tests.faults.load import FaultyServer, Load, awaited
from tests.faults.postgres import Postgres
from tests.faults.processes import at_the_end, free_port
from tests.faults.report import CannotBeMade, Row

KILLED = "One of two servers is killed"
ROLLED = "Both servers are upgraded in turn"
RESTARTED = "The database of two servers is killed and started again"
PASSWORD = "two servers, one study"
CLICKS = 12
"""Clicks that have to be acknowledged between two things that are done to the servers."""
MIGRATION = """\
import sqlalchemy as sa
from alembic import op

revision, down_revision = "{version}", "{before}"
branch_labels = depends_on = None


def upgrade() -> None:
    op.add_column("judgments", sa.Column("added_{version}", sa.Integer(), nullable=True))
    op.create_index("ix_judgments_{version}", "judgments", ["added_{version}"])
    op.create_table("table_{version}", sa.Column("id", sa.Integer(), primary_key=True))
"""
"""What a release adds under servers of the one before: a column, its index, and a table."""


class ClusterServer(FaultyServer):
    """A server that runs the release in the folder ``root``."""

    is_granian = True
    root = ROOT

    def environment(self) -> dict[str, str]:
        return super().environment() | {"PYTHONPATH": str(self.root / "webapp")}


@dataclass(frozen=True)
class Cluster:
    """``load`` clicks by way of nginx, the ``proxy``; its server is the first of the two."""

    load: Load
    servers: tuple[ClusterServer, ClusterServer]
    postgres: Postgres
    proxy: subprocess.Popen[bytes]

    def row(self, fault: str, action: str) -> Row:
        """Return the count once everything was sent; figures that differ are damage."""
        seconds = sorted(second for each in self.load.clickers for second in each.seconds)
        for clicker in self.load.clickers:
            clicker.drain()
        self._compare_figures()
        self.servers[1].stop()
        if "Traceback" in self.servers[1].faults():
            self.load.damage.append(self.servers[1].faults()[-300:])
        self.load.finish()
        p99 = 1000 * seconds[int(0.99 * len(seconds))]
        slowest = max(clicker.longest_wait for clicker in self.load.clickers)
        waits = f"p99 of an answer {p99:.0f} ms, {slowest:.1f} s at most until an acknowledgement"
        row = self.load.row(fault, f"{action}; {waits}; equal figures on both")
        self.postgres.kill()
        self.proxy.terminate()
        return row

    def _compare_figures(self) -> None:
        new = self.servers[0].command("token", "new", "--scope", "read")
        assert new.returncode == 0, new.stderr
        token = new.stdout.split()[0]
        address = f"/api/v1/runs/{self.load.run_id}/figures"
        figures = []
        for server in self.servers:
            request = Request(server.url + address)
            request.add_header("Authorization", f"Bearer {token}")
            with urlopen(request, timeout=PATIENCE) as response:
                figures.append(json.load(response))
        if figures[0] != figures[1] or not figures[0]:
            self.load.damage.append(f"figures differ: {figures}"[:1000])


def kill_one(folder: Path, kills: int) -> Row:
    """Return what kills of one server at a time did, the other one answering meanwhile."""
    cluster = _start(folder)
    with cluster.load.clicking():
        for number in range(kills):
            server = cluster.servers[number % 2]
            cluster.load.await_clicks(CLICKS)
            server.kill()
            if not cluster.load.await_clicks(CLICKS):
                cluster.load.damage.append("nobody was answered while one server was away")
            server.start()
            cluster.load.count()
    return cluster.row(KILLED, f"{kills} kills, the other one answering")


def roll(folder: Path, rounds: int) -> Row:
    """Return what rolling upgrades did, each to a release with a migration of its own.

    As the guide has them: the new release's `relevansi upgrade` runs beside servers of the old
    one, which are then replaced in turn.
    """
    cluster = _start(folder)
    with cluster.load.clicking():
        for number in range(1, rounds + 1):
            cluster.load.await_clicks(CLICKS)
            release = _later_release(folder / f"release{number}", number)
            upgraded = ClusterServer(folder / f"upgrade{number}", cluster.servers[0].settings)
            upgraded.root = release
            finished = upgraded.command("upgrade")
            if finished.returncode:
                cluster.load.damage.append(finished.stderr)
            for server in cluster.servers:
                if not cluster.load.await_clicks(CLICKS):
                    cluster.load.damage.append("nobody was answered during an upgrade")
                server.stop()
                server.root = release
                if not cluster.load.await_clicks(CLICKS):
                    cluster.load.damage.append("nobody was answered while one was restarted")
                server.start()
        cluster.load.await_clicks(CLICKS)
    ((version,),) = stored.rows(cluster.load.url, "SELECT version_num FROM alembic_version")
    if version != _versions(rounds)[-1]:
        cluster.load.damage.append(f"the tables are of version {version}")
    return cluster.row(
        ROLLED, f"{rounds} migrations under two servers, each of which was then replaced"
    )


def _later_release(folder: Path, migrations: int) -> Path:
    """Make a release with so many migrations beyond those of this one; return its folder."""
    package = folder / "webapp" / "relevansi"
    scripts = package / "db" / "migrations"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "webapp" / "relevansi", package, ignore=ignored)
    for pages in ("static", "templates"):  # where an installed package has them
        (package / pages).symlink_to(ROOT / pages)
    versions = _versions(migrations)
    for before, version in pairwise(versions):
        migration = scripts / "versions" / f"{version}.py"
        migration.write_text(MIGRATION.format(version=version, before=before), "utf-8")
    with (scripts / "__init__.py").open("a", encoding="utf-8") as module:
        module.write(f'HEAD = "{versions[-1]}"\n')
    return folder


def _versions(migrations: int) -> list[str]:
    """Return the version of this release's tables and those of so many migrations after it."""
    return [f"{int(HEAD) + number:04}" for number in range(migrations + 1)]


def restart_database(folder: Path, kills: int) -> Row:
    """Return what kills of PostgreSQL did; no server is touched."""
    cluster = _start(folder)
    with cluster.load.clicking():
        for _kill in range(kills):
            cluster.load.await_clicks(CLICKS)
            cluster.postgres.kill()
            cluster.postgres.start()
            cluster.load.count()
        cluster.load.await_clicks(CLICKS)
    return cluster.row(RESTARTED, f"{kills} kills and restarts, no server restarted")


def _start(folder: Path) -> Cluster:
    """Return the cluster, started; counting its clicks ends it."""
    for program in ("nginx", "openssl"):
        if shutil.which(program) is None and not Path("/usr/sbin", program).exists():
            raise CannotBeMade(f"{program} is not installed")
    postgres = Postgres(folder / "cluster")
    postgres.make()
    postgres.start()
    load = Load(folder, postgres.url)
    settings = {
        "RELEVANSI_DATABASE_URL": postgres.url,
        "RELEVANSI_SECRET_KEY": "k" * 64,
        "RELEVANSI_TRUSTED_PROXIES": "127.0.0.1",
    }
    servers = (
        ClusterServer(folder / "instance", settings),
        ClusterServer(folder / "second", settings),
    )
    load.server = servers[0]
    for server in servers:
        server.start()
    proxy, port, certificate = _nginx(folder / "proxy", servers[0].port, servers[1].port)
    context = ssl.create_default_context(cafile=str(certificate))
    form = {"password": PASSWORD, "again": PASSWORD}
    # From this machine; who comes by the proxy is from another one.
    _cookie(http.client.HTTPConnection("127.0.0.1", servers[0].port), "/sign-in/first", form)

    def connect(port: int) -> http.client.HTTPConnection:
        return http.client.HTTPSConnection("localhost", port, timeout=PATIENCE, context=context)

    cookie = _cookie(connect(port), "/sign-in", form)
    for clicker in load.clickers:
        clicker.port, clicker.connect = (lambda: port), connect
        clicker.headers = {**HEADERS, "Cookie": cookie}
    return Cluster(load, servers, postgres, proxy)


def _cookie(connection: http.client.HTTPConnection, path: str, form: Mapping[str, str]) -> str:
    """Return the owner's cookie, given by one server and good for both."""
    connection.request("POST", path, urlencode(form), HEADERS)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    cookies = answer.headers.get_all("Set-Cookie") or []
    assert cookies, answer.status
    return cookies[0].partition(";")[0]


def _nginx(folder: Path, first: int, second: int) -> tuple[subprocess.Popen[bytes], int, Path]:
    """Start nginx with docs/nginx.conf; return it, the port of its TLS and its certificate."""
    folder.mkdir()
    certificate = folder / "fullchain.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "1")
    keys = ("-keyout", str(folder / "privkey.pem"), "-out", str(certificate))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, *keys],
        check=True,
        capture_output=True,
    )
    plain, tls = free_port(), free_port()
    text = (ROOT / "docs" / "nginx.conf").read_text("utf-8")
    for ours, here in (
        (" /tmp/", f" {folder}/"),  # first: the folder may lie there itself
        ("app-1:8800", f"127.0.0.1:{first}"),
        ("app-2:8800", f"127.0.0.1:{second}"),
        ("listen 8080;", f"listen 127.0.0.1:{plain};"),
        ("listen 8443 ssl;", f"listen 127.0.0.1:{tls} ssl;"),
        ("/etc/nginx/tls", str(folder)),
    ):
        assert ours in text, ours
        text = text.replace(ours, here)
    (folder / "nginx.conf").write_text(text, "utf-8")
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    conf = ("-c", str(folder / "nginx.conf"), "-p", str(folder), "-g", "daemon off;")
    with (folder / "error.log").open("wb") as log:
        process = subprocess.Popen([program, *conf], stderr=log)
    at_the_end(process.terminate)

    def answers() -> bool:
        try:
            ssl.get_server_certificate(("127.0.0.1", tls), timeout=5)
        except OSError:
            return False
        return True

    assert awaited(answers), (folder / "error.log").read_text("utf-8")
    return process, tls, certificate
