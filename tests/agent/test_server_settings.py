"""Model servers in the settings: how they are read, written and removed, and what is made of them."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from agent.errors import SettingsError
from agent.home import Home
from agent.servers import addresses_of, checked_key, drop_server, keep_server
from agent.settings import (
    CONFIG_TEXT,
    EXAMPLE,
    Server,
    Settings,
    as_given,
    load_settings,
    remove_server,
    server_of,
    write_server,
    write_setting,
)
from models.errors import AddressRefused
from tests.agent.scored import score, tables
from tests.tables import each

TABLES = tables(__file__)
DEN = Server(address="http://localhost:8080", kind="llama")
POOL = Server(address=["http://localhost:8081", "http://localhost:8082"], states=True)
KEY = "sk-very-secret"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_the_example_in_the_made_file_is_a_server(config: Path) -> None:
    lines = [line.removeprefix("# ") for line in EXAMPLE.splitlines()[2:]]
    config.write_text("\n".join(lines), encoding="utf-8")
    assert load_settings(config).servers == {"den": Server(address="http://localhost:8080")}
    assert CONFIG_TEXT.endswith(EXAMPLE)
    assert Settings().servers == {}


def test_a_wrong_server_is_named_with_its_line_and_without_its_values(config: Path) -> None:
    def check(row: list[str]) -> None:
        text, told = row
        config.write_text(text, encoding="utf-8")
        with pytest.raises(SettingsError) as raised:
            load_settings(config)
        assert told in str(raised.value)
        assert KEY not in str(raised.value)

    each(TABLES["wrong"], check)


def test_servers_cross_between_processes_as_they_are() -> None:
    settings = Settings(servers={"den": DEN, "pool": POOL})
    assert as_given(settings.model_dump(mode="json")) == settings


def test_the_environment_sets_servers_too(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_SERVERS__DEN__ADDRESS", "http://localhost:1")
    assert load_settings(config).servers["den"].addresses == ("http://localhost:1",)


@pytest.mark.parametrize("server", [DEN, POOL, Server(address="https://a", insecure=True, certificate="/x y.pem")])
def test_a_server_comes_and_goes_and_leaves_the_file_as_it_was(config: Path, server: Server) -> None:
    load_settings(config)
    write_server(config, "gpu-2", server)
    write_server(config, "other", DEN)
    assert load_settings(config).servers == {"gpu-2": server, "other": DEN}
    assert config.read_text(encoding="utf-8").startswith(CONFIG_TEXT)
    assert config.stat().st_mode & 0o777 == 0o600
    remove_server(config, "other")
    remove_server(config, "gpu-2")
    assert config.read_text(encoding="utf-8") == CONFIG_TEXT


OWN = """\
# mine
[servers.den] # at home
address = [ # both
  "http://a:1",
  "http://b:2",
]
# over the cable
insecure = true

# for later
[sampling]
top_k = 3 # few
"""


def test_a_server_that_is_written_again_changes_in_its_place(config: Path) -> None:
    config.write_text(OWN, encoding="utf-8")
    write_server(config, "den", DEN)
    text = config.read_text(encoding="utf-8")
    assert load_settings(config).servers == {"den": DEN}
    for kept in (
        "# mine\n[servers.den] # at home\n",
        "# over the cable\n",
        "\n# for later\n[sampling]\ntop_k = 3 # few",
    ):
        assert kept in text


def test_a_server_of_ones_own_writing_goes_alone(config: Path) -> None:
    def check(row: Sequence[str]) -> None:
        text, *left = row
        config.write_bytes(text.encode())
        before = load_settings(config)
        remove_server(config, "den")
        others = {name: server for name, server in before.servers.items() if name != "den"}
        assert load_settings(config) == before.model_copy(update={"servers": others})
        assert not left or config.read_bytes().decode() == left[0]

    each([(OWN, "# mine\n\n# for later\n[sampling]\ntop_k = 3 # few\n"), *TABLES["removed"]], check)


def test_a_server_finds_its_place_beside_others_in_any_form(config: Path) -> None:
    def check(text: str) -> None:
        config.write_text(text, encoding="utf-8")
        others = load_settings(config).servers
        write_server(config, "den", POOL)
        assert load_settings(config).servers == others | {"den": POOL}

    each(TABLES["beside"], check)


def test_other_settings_change_beside_servers(config: Path) -> None:
    load_settings(config)
    write_server(config, "den", DEN)
    before = config.read_text(encoding="utf-8")
    for key, value in (("model", "m@den"), ("sampling.top_k", 3)):
        write_setting(config, key, value)
        assert load_settings(config).servers == {"den": DEN}
        write_setting(config, key, None)
    assert config.read_text(encoding="utf-8") == before


def test_what_cannot_be_written_or_removed_leaves_the_file(config: Path) -> None:
    text = "servers = 3\n"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match="servers is not a table"):
        write_server(config, "den", DEN)
    with pytest.raises(SettingsError, match="has no server den"):
        remove_server(config, "den")
    with pytest.raises(SettingsError, match="cannot be a server's name"):
        write_server(config, "My den", DEN)
    assert config.read_text(encoding="utf-8") == text


def test_a_model_on_a_server_is_told_from_a_path() -> None:
    score(TABLES["names"], lambda name, *model: server_of(name, {"den": DEN}) == ((*model, "den") if model else None))


def test_addresses_have_the_servers_key_and_what_may_not_be_asked_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    home = Home.resolve()
    away = Server(address=["https://a.example/v1/", "https://b.example"])
    settings = Settings(servers={"pool": POOL, "away": away})
    assert [each.url for each in addresses_of(home, settings, "pool")] == list(POOL.addresses)
    with pytest.raises(AddressRefused, match="no key"):
        addresses_of(home, settings, "away")
    keep_server(home, "away", away, key=KEY)
    found = addresses_of(home, settings, "away")
    assert {each.key for each in found} == {KEY}
    assert KEY not in f"{found}"
    with pytest.raises(SettingsError, match="no server nobody"):
        addresses_of(home, settings, "nobody")


def test_a_certificate_may_be_written_from_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own.pem").write_text("")
    settings = Settings(servers={"den": Server(address="https://localhost", certificate="~/own.pem")})
    assert addresses_of(Home.resolve(), settings, "den")[0].certificate == tmp_path / "own.pem"


def test_a_key_is_private_from_its_first_moment_and_goes_with_its_server() -> None:
    home = Home.resolve()
    old = os.umask(0)
    try:
        keep_server(home, "den", DEN, key=KEY)
        keep_server(home, "den", DEN, key=f"{KEY}-2")
    finally:
        os.umask(old)
    file = home.keys / "den"
    assert file.read_text() == f"{KEY}-2\n"
    assert (file.stat().st_mode & 0o777, home.keys.stat().st_mode & 0o777) == (0o600, 0o700)
    assert [each.name for each in home.keys.iterdir()] == ["den"]
    assert KEY not in home.config.read_text()
    drop_server(home, "den")
    assert not file.exists()
    assert load_settings(home.config).servers == {}


def test_a_server_that_cannot_be_written_leaves_no_key() -> None:
    home = Home.resolve()
    home.config.write_text("servers = 3\n")
    with pytest.raises(SettingsError):
        keep_server(home, "den", DEN, key=KEY)
    assert list(home.keys.iterdir()) == []


@pytest.mark.parametrize("typed", ["clé", "a\nb", "a\x1b[31m"])
def test_what_is_no_key_is_refused_before_it_is_sent(typed: str) -> None:
    with pytest.raises(AddressRefused) as raised:
        checked_key("den", typed)
    assert typed not in str(raised.value)
    assert checked_key("den", f" {KEY}\n") == KEY
