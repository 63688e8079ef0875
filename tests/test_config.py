"""Where things lie, and what the environment may change."""

from __future__ import annotations

import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from relevansi import config
from relevansi.config import Settings, UnusableSetting

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(name="wheel")
def _wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "venv" / "lib" / "site-packages" / "relevansi"
    package.mkdir(parents=True)
    monkeypatch.setattr(config, "PACKAGE", package)
    monkeypatch.setattr(config, "CHECKOUT", package.parents[1])
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    return package


def test_a_checkout_uses_its_folders_and_an_installed_package_those_it_carries(
    wheel: Path, tmp_path: Path
) -> None:
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nname = "something-else"\n', "utf-8")
    elsewhere = Settings.from_environment({}).instance
    project.write_text('[project]\nname = "relevansi"\n', "utf-8")

    assert elsewhere.name == "relevansi"
    assert tmp_path not in elsewhere.parents
    assert Settings.from_environment({}).instance == tmp_path / "instance"
    assert config.resource("static") == wheel / "static"


def test_proxies_are_addresses_and_networks() -> None:
    """None is trusted unless it is named; anything else is refused with the variable's name."""
    result = Settings.from_environment({"RELEVANSI_TRUSTED_PROXIES": " 127.0.0.1, 10.0.0.7/8,::1 "})

    assert Settings.from_environment({}).trusted_proxies == ()
    assert result.trusted_proxies == ("127.0.0.1", "10.0.0.7/8", "::1")
    with pytest.raises(UnusableSetting, match="RELEVANSI_TRUSTED_PROXIES"):
        Settings.from_environment({"RELEVANSI_TRUSTED_PROXIES": "nginx"})


def test_without_settings_the_database_is_a_file_in_the_instance_folder(tmp_path: Path) -> None:
    settings = Settings.from_environment({"RELEVANSI_DATABASE_URL": ""})
    of_folder = Settings.from_environment({"RELEVANSI_INSTANCE": str(tmp_path / "study")})
    demo = Settings.from_environment({"RELEVANSI_DATABASE_URL": settings.demo_database_url})

    assert config.resource("templates") == ROOT / "templates"
    assert settings.database_url == f"sqlite:///{(ROOT / 'instance').as_posix()}/relevansi.sqlite"
    assert settings.demo_database_url.endswith("/instance/demo.sqlite")
    assert of_folder.database_url == config.sqlite_url(tmp_path / "study" / "relevansi.sqlite")
    assert (demo.is_demo, settings.is_demo) == (True, False)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ana@db/study", "postgresql+psycopg://ana@db/study"),
        ("postgres://ana@db/study", "postgresql+psycopg://ana@db/study"),
        ("postgresql+psycopg://ana@db/study", "postgresql+psycopg://ana@db/study"),
        ("sqlite:////srv/postgresql://odd.sqlite", "sqlite:////srv/postgresql://odd.sqlite"),
    ],
)
def test_postgresql_gets_its_driver_and_nothing_else_changes(url: str, expected: str) -> None:
    assert Settings.from_environment({"RELEVANSI_DATABASE_URL": url}).database_url == expected


def test_the_upload_limit_counts_in_mebibytes() -> None:
    assert Settings.from_environment({}).max_upload_bytes == 33_554_432  # 32 x 1024 x 1024
    settings = Settings.from_environment({"RELEVANSI_MAX_UPLOAD_MB": "5"})
    assert settings.max_upload_bytes == 5_242_880  # 5 x 1024 x 1024
    for text in ("0", "-1", "2.5", "many"):
        with pytest.raises(UnusableSetting, match="RELEVANSI_MAX_UPLOAD_MB"):
            Settings.from_environment({"RELEVANSI_MAX_UPLOAD_MB": text})


def test_the_secret_is_made_once_and_kept(tmp_path: Path) -> None:
    first = config.secret_key(tmp_path / "a" / "instance")

    assert len(first) == 64  # 32 random bytes in hexadecimal
    assert config.secret_key(tmp_path / "a" / "instance") == first
    assert config.secret_key(tmp_path / "b") != first
    (tmp_path / "b" / "secret_key").write_text("")  # cut off at the first start
    assert config.secret_key(tmp_path / "b") == config.secret_key(tmp_path / "b") != ""
    assert config.secret_key(tmp_path, {"RELEVANSI_SECRET_KEY": "a" * 32}) == "a" * 32
    with pytest.raises(UnusableSetting, match="32"):  # it could be guessed
        config.secret_key(tmp_path, {"RELEVANSI_SECRET_KEY": "short"})


def test_a_secret_may_be_in_a_file_that_its_variable_names(tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("postgresql://ana@db/study\n", "utf-8")
    from_file = {"RELEVANSI_DATABASE_URL_FILE": str(file)}

    url = Settings.from_environment(from_file).database_url
    assert url == "postgresql+psycopg://ana@db/study"
    with pytest.raises(UnusableSetting, match="both set"):
        Settings.from_environment({**from_file, "RELEVANSI_DATABASE_URL": "sqlite:///other"})
    file.write_text("b" * 32 + "\r\n", "utf-8")
    assert config.secret_key(tmp_path, {"RELEVANSI_SECRET_KEY_FILE": str(file)}) == "b" * 32


@pytest.mark.parametrize("name", config.SECRETS)
def test_a_file_of_a_secret_that_cannot_be_read_is_named_at_the_start(
    name: str, tmp_path: Path
) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for file in (tmp_path / "missing", tmp_path, binary):
        with pytest.raises(UnusableSetting, match=f"RELEVANSI_{name}_FILE.*{file.name}"):
            Settings.from_environment({f"RELEVANSI_{name}_FILE": str(file)})


def test_many_first_starts_at_once_agree_on_one_secret_that_its_owner_alone_may_read(
    tmp_path: Path,
) -> None:
    instance = tmp_path / "instance"
    instance.mkdir(mode=0o755)
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(config.secret_key, [instance] * 32))

    assert len(keys) == 1
    assert [path.name for path in instance.iterdir()] == ["secret_key"]
    if sys.platform != "win32":  # which keeps access in lists, not modes
        assert stat.S_IMODE(instance.stat().st_mode) == 0o700
        assert stat.S_IMODE((instance / "secret_key").stat().st_mode) == 0o600


def test_the_settings_need_the_standard_library_only() -> None:
    code = "import sys, relevansi.config; print(*sorted(m.partition('.')[0] for m in sys.modules))"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert not {"flask", "sqlalchemy", "platformdirs", "msgspec"} & set(process.stdout.split())
