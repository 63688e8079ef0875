"""Where things lie and how the product is set up: folders, database, secret, limits.

Set from outside by ``RELEVANSI_DATABASE_URL``, ``RELEVANSI_INSTANCE`` (the folder for the
databases and the secret), ``RELEVANSI_SECRET_KEY`` (for hosts that share no folder),
``RELEVANSI_MAX_UPLOAD_MB``, ``RELEVANSI_TRUSTED_PROXIES`` and ``RELEVANSI_JUDGE_URL``, ``_MODEL``
and ``_KEY_VARIABLE``. What is secret may be in a file that the variable with ``_FILE`` after its
name names.
Importing this costs nothing but the standard library.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from ipaddress import ip_network
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parents[1]
"""Where the project lies, unless the package is installed elsewhere."""
SHORTEST_KEY = 32
SECRETS = ("DATABASE_URL", "SECRET_KEY", "CHATBOT_KEY", "RETRIEVER_KEY", "EMBEDDINGS_KEY")
"""The settings that may be in a file, without ``RELEVANSI_`` before them."""


class UnusableSetting(ValueError):
    """An environment variable holds what it cannot mean; the message names both."""


def secret(name: str, environ: Mapping[str, str] = os.environ) -> str:
    """The value of the variable `name`, or of the file that ``NAME_FILE`` names; "" without both.

    A last line break of the file is left out. May raise `UnusableSetting`.
    """
    value = environ.get(name, "")
    file = environ.get(f"{name}_FILE", "")
    if not file:
        return value
    if value:
        raise UnusableSetting(f"{name} and {name}_FILE are both set; unset one of them.")
    try:
        return Path(file).read_text("utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UnusableSetting(f"{name}_FILE names {file!r}: {reason}.") from None


@dataclass(frozen=True, slots=True)
class JudgeEndpoint:
    """Where a language model is asked to judge: an OpenAI-compatible address and a model.

    ``key_variable`` names the environment variable that holds the key; empty, none is sent.
    """

    url: str
    model: str
    key_variable: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> JudgeEndpoint | None:
        """The endpoint that `environ` names, if it does; may raise `UnusableSetting`."""
        names = ("RELEVANSI_JUDGE_URL", "RELEVANSI_JUDGE_MODEL", "RELEVANSI_JUDGE_KEY_VARIABLE")
        url, model, variable = (environ.get(name, "").strip() for name in names)
        if not url:
            return None
        if not model:
            raise UnusableSetting("RELEVANSI_JUDGE_URL is set; RELEVANSI_JUDGE_MODEL is not.")
        if variable and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", variable):
            # The value is not repeated: it may be the key itself.
            raise UnusableSetting(
                "RELEVANSI_JUDGE_KEY_VARIABLE takes the name of an environment variable, "
                "not the key."
            )
        return cls(url, model, variable)


PREFIX = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)*", re.ASCII)
"""A path below which everything is served, without the slashes around it."""
STUDY = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?", re.ASCII)
"""The name of one of several studies: that of its file and in its address."""
FOLDER = ".folder.sqlite"
"""The database with the password of a folder of studies, which no study can be called."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How one process is set up.

    ``database_url`` names its driver, ``instance`` is the absolute folder of everything the product
    writes by itself, which need not exist yet. Without ``judge`` no machine judges. What
    ``trusted_proxies`` (addresses and networks) say of who sends a request is believed. ``prefix``
    is the path below which everything is served, as in "/relevansi"; usually none. ``studies``
    is a folder with a database for each of several studies, ``study`` the name of the one that is
    meant; without one ``database_url`` is that of the folder's own database. ``auth_header``
    is the header in which a trusted proxy names the person by address, empty where people sign in
    here; ``owners`` are the addresses of those who are the owner, in lower case. ``log`` is
    "json" where each request takes a line of the log.
    """

    database_url: str
    instance: Path
    max_upload_bytes: int = 32 * 2**20
    judge: JudgeEndpoint | None = None
    trusted_proxies: tuple[str, ...] = ()
    prefix: str = ""
    is_demo: bool = False
    studies: Path | None = None
    study: str = ""
    auth_header: str = ""
    owners: tuple[str, ...] = ()
    log: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] = os.environ) -> Settings:
        """The settings that `environ` asks for; an empty variable counts as absent."""
        folder = environ.get("RELEVANSI_INSTANCE")
        instance = Path(folder).expanduser().absolute() if folder else default_instance()
        configured_url = secret("RELEVANSI_DATABASE_URL", environ)
        studies, study = _studies(environ, configured_url)
        if studies is not None:
            configured_url = sqlite_url(studies / (f"{study}.sqlite" if study else FOLDER))
        url = configured_url or sqlite_url(instance / "relevansi.sqlite")
        for name in SECRETS:
            secret(f"RELEVANSI_{name}", environ)  # unusable ones are refused at the start
        log = environ.get("RELEVANSI_LOG", "").strip()
        if log not in {"", "json"}:
            raise UnusableSetting(f'RELEVANSI_LOG is {log!r}; it takes "json" or nothing.')
        proxies = _trusted_proxies(environ)
        settings = cls(
            with_driver(url),
            instance,
            max_upload_bytes=_max_upload_bytes(environ),
            judge=JudgeEndpoint.from_environment(environ),
            trusted_proxies=proxies,
            prefix=_prefix(environ),
            studies=studies,
            study=study,
            auth_header=_auth_header(environ, is_believed=bool(proxies)),
            owners=_listed(environ.get("RELEVANSI_OWNERS", "").lower()),
            log=log,
        )
        if bool(settings.auth_header) != bool(settings.owners):
            raise UnusableSetting(
                "RELEVANSI_AUTH_HEADER and RELEVANSI_OWNERS belong together; set both or none."
            )
        demos = (settings.demo_database_url, settings.documents_database_url)
        return replace(settings, is_demo=settings.database_url in demos)

    def of_study(self, name: str, *, is_demo: bool = False) -> Settings:
        """The settings of one study of the folder, which is served below a path of its name."""
        assert self.studies is not None
        url = sqlite_url(self.studies / f"{name}.sqlite")
        return replace(self, database_url=url, study=name, is_demo=is_demo)

    @property
    def demo_database_url(self) -> str:
        """The database of ``relevansi demo``, apart from anybody's own."""
        return sqlite_url(self.instance / "demo.sqlite")

    @property
    def documents_database_url(self) -> str:
        """The database of ``relevansi demo --documents``."""
        return sqlite_url(self.instance / "demo-documents.sqlite")

    @property
    def other_demo(self) -> str:
        """The command of the demo that is not in the database in use."""
        is_of_documents = self.database_url == self.documents_database_url
        return "relevansi demo" if is_of_documents else "relevansi demo --documents"


def _listed(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in text.split(","))
    return tuple(part for part in parts if part)


def _max_upload_bytes(environ: Mapping[str, str]) -> int:
    megabytes = environ.get("RELEVANSI_MAX_UPLOAD_MB", "").strip() or "32"
    if not megabytes.isdecimal() or int(megabytes) == 0:
        raise UnusableSetting(
            f"RELEVANSI_MAX_UPLOAD_MB is {megabytes!r}; it takes a whole number above 0."
        )
    return int(megabytes) * 2**20


def _trusted_proxies(environ: Mapping[str, str]) -> tuple[str, ...]:
    proxies = _listed(environ.get("RELEVANSI_TRUSTED_PROXIES", ""))
    for proxy in proxies:
        try:
            ip_network(proxy, strict=False)
        except ValueError as error:
            raise UnusableSetting(
                f"RELEVANSI_TRUSTED_PROXIES has {proxy!r}; it takes addresses and networks "
                "with commas between, such as 127.0.0.1, 10.0.0.0/8."
            ) from error
    return proxies


def _prefix(environ: Mapping[str, str]) -> str:
    path = environ.get("RELEVANSI_PREFIX", "").strip(" /")
    if path and not PREFIX.fullmatch(path):
        raise UnusableSetting(
            f"RELEVANSI_PREFIX is {path!r}; it takes a path of letters, digits and . _ - such "
            "as /relevansi."
        )
    return f"/{path}" if path else ""


def _studies(environ: Mapping[str, str], database_url: str) -> tuple[Path | None, str]:
    """The folder of several studies and the one that is meant; may raise `UnusableSetting`."""
    folder = environ.get("RELEVANSI_STUDIES")
    study = environ.get("RELEVANSI_STUDY", "")
    if not folder:
        if study:
            raise UnusableSetting("RELEVANSI_STUDY is set, and RELEVANSI_STUDIES names no folder.")
        return None, ""
    if database_url:
        raise UnusableSetting(
            "RELEVANSI_STUDIES and RELEVANSI_DATABASE_URL are both set; unset one of them."
        )
    if study and not STUDY.fullmatch(study):
        raise UnusableSetting(
            f"RELEVANSI_STUDY is {study!r}; it takes up to 60 of a-z, 0-9 and -, such as pilot-2."
        )
    return Path(folder).expanduser().absolute(), study


def _auth_header(environ: Mapping[str, str], *, is_believed: bool) -> str:
    """The header that names a person, which counts only from a trusted proxy."""
    header = environ.get("RELEVANSI_AUTH_HEADER", "").strip()
    if header and not re.fullmatch(r"[A-Za-z0-9-]+", header):
        raise UnusableSetting(
            f"RELEVANSI_AUTH_HEADER is {header!r}; it takes the name of a header, such as "
            "X-Forwarded-Email."
        )
    if header and not is_believed:
        raise UnusableSetting(
            "RELEVANSI_AUTH_HEADER is set, and RELEVANSI_TRUSTED_PROXIES names no proxy whose "
            "header counts."
        )
    return header


def resource(name: str) -> Path:
    """The folder "templates", "static", "seeds" or "docs": in the checkout, or in the package."""
    return (CHECKOUT if is_checkout(CHECKOUT) else PACKAGE) / name


def default_instance() -> Path:
    """``instance/`` of the checkout in use, else the user's data folder."""
    for home in (CHECKOUT, Path(sys.prefix).absolute().parent):
        if is_checkout(home):
            return home / "instance"
    from platformdirs import user_data_path  # noqa: PLC0415 - only without a folder named

    return user_data_path("relevansi", appauthor=False)


def is_checkout(folder: Path) -> bool:
    """Whether `folder` holds this project's own ``pyproject.toml``."""
    try:
        text = (folder / "pyproject.toml").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return re.search(r'^name = "relevansi"$', text, re.MULTILINE) is not None


def sqlite_url(path: Path) -> str:
    """The URL of the SQLite database in a file."""
    return f"sqlite:///{path.as_posix()}"


def with_driver(url: str) -> str:
    """`url` with psycopg as the driver where PostgreSQL comes without one."""
    return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", url)


def private_folder(folder: Path) -> Path:
    """`folder`, made if it is missing, and closed to the machine's other users."""
    new_private_folder(folder)
    with suppress(PermissionError):  # a folder of another user, as in a container, stays as it is
        folder.chmod(0o700)
    return folder


def new_private_folder(folder: Path) -> None:
    """Make `folder` and those above it that are missing, closed to the machine's other users."""
    if not folder.exists():
        new_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Name `path`, as the user wrote it, in errors of the disk inside the ``with`` block."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def sync(file: Path) -> None:
    """Bring a file and its name to the disk."""
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())
    with suppress(OSError):  # Windows cannot open a folder, and need not
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def secret_key(instance: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The key that signs sessions: the environment's, else one that the first start wrote."""
    if configured_key := secret("RELEVANSI_SECRET_KEY", environ):
        if len(configured_key) < SHORTEST_KEY:
            message = f"RELEVANSI_SECRET_KEY is shorter than {SHORTEST_KEY} characters."
            raise UnusableSetting(message)
        return configured_key
    path = private_folder(instance) / "secret_key"
    with suppress(FileNotFoundError):
        if key := path.read_text("ascii"):  # empty when the first start was cut off
            return key
        path.unlink()
    key = secrets.token_hex(32)
    # Several processes may start at once: a link never replaces what another of them wrote.
    draft = path.with_name(f"secret_key.{key[:8]}")
    draft.touch(mode=0o600)
    draft.write_text(key, "ascii")
    try:
        os.link(draft, path)
    except FileExistsError:
        return path.read_text("ascii")
    finally:
        draft.unlink()
    return key
