"""Where words may be sent, and the key that is sent with them: every rule of models/servers/address.py."""

from pathlib import Path

import pytest

from models.errors import AddressRefused
from models.servers.address import checked_address, is_local, key_of, variable_of

KEY = "sk-very-secret"
PASSWORD = "hunter2"


REFUSED = [
    ("http://gpu.example:8080", KEY, "over http everybody between can read"),
    ("http://192.168.1.20:8080", KEY, "over http everybody between can read"),
    ("http://localhost.evil.example", KEY, "over http everybody between can read"),
    ("https://gpu.example", "", "there is no key for it"),
    *((url, "", "is no address of a server") for url in ("ftp://localhost", "localhost:8080", "http://", "")),
    *((url, "", "is no address of a server") for url in ("http://:8080", "http://localhost:0")),
    *((f"http://{place}", "", "cannot be read") for place in ("localhost:99999", "localhost:many", "[::1")),
    (f"http://ada:{PASSWORD}@localhost:8080", "", "has a name or a password in it"),
    (f"https://:{PASSWORD}@gpu.example", KEY, "has a name or a password in it"),
    ("https://ada@gpu.example", KEY, "has a name or a password in it"),
]


def test_this_machine_needs_neither_https_nor_a_key() -> None:
    for url, clean in (
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/v1/", "http://[::1]:8080/v1"),
        ("http://127.8.9.10/v1//", "http://127.8.9.10/v1"),
        ("https://localhost/base?token=x#y", "https://localhost/base"),
    ):
        address = checked_address("den", url)
        assert (address.url, address.local, address.key) == (clean, True, "")


def test_another_machine_needs_https_and_a_key_which_is_in_no_text_of_the_address() -> None:
    address = checked_address("den", "https://gpu.example:8443/v1", key=KEY)
    assert (address.url, address.host, address.local) == ("https://gpu.example:8443/v1", "gpu.example:8443", False)
    assert address.key == KEY
    assert KEY not in f"{address} {address!r} {address.host}"


@pytest.mark.parametrize(("url", "key", "words"), REFUSED)
def test_what_is_refused_is_said_with_what_to_do_and_without_a_secret(url: str, key: str, words: str) -> None:
    with pytest.raises(AddressRefused, match=words) as raised:
        checked_address("den", url, key=key)
    told = f"{raised.value} {raised.value!r}"
    assert "The server den: " in told
    assert KEY not in told
    assert PASSWORD not in told
    assert raised.value.server == "den"


def test_insecure_is_the_users_word_that_http_without_a_key_will_do() -> None:
    address = checked_address("den", "http://192.168.1.20:8080/", insecure=True)
    assert (address.url, address.local) == ("http://192.168.1.20:8080", False)
    for wrong in (f"http://ada:{PASSWORD}@192.168.1.20", "gpu.example"):
        with pytest.raises(AddressRefused):
            checked_address("den", wrong, insecure=True)


def test_a_certificate_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AddressRefused, match="certificate"):
        checked_address("den", "https://gpu.example", key=KEY, certificate=tmp_path / "none.pem")
    (there := tmp_path / "own.pem").write_text("")
    assert checked_address("den", "https://gpu.example", key=KEY, certificate=there).certificate == there


def test_this_machine_is_known_by_its_name_alone() -> None:
    assert all(map(is_local, ("localhost", "LOCALHOST.", "127.255.0.1", "::1")))
    assert not any(map(is_local, ("0.0.0.0", "::", "10.0.0.1", "localhost.example", "")))


def test_a_key_comes_from_its_variable_before_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "gpu-2"
    assert key_of("gpu-2", file) == ""
    file.touch(0o600)
    file.write_text(f"  {KEY}\n")
    assert key_of("gpu-2", file) == KEY
    assert variable_of("gpu-2") == "CLEW_KEY_GPU_2"
    monkeypatch.setenv("CLEW_KEY_GPU_2", " from-the-variable ")
    assert key_of("gpu-2", file) == "from-the-variable"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601])
def test_a_key_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "den"
    file.write_text(KEY)
    file.chmod(mode)
    with pytest.raises(AddressRefused, match=r"others can read .*chmod 600") as raised:
        key_of("den", file)
    assert KEY not in str(raised.value)


def test_what_is_no_key_is_refused_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "den"
    file.touch(0o600)
    for content in (b"\xff\xfe", f"{KEY}\n{KEY}".encode(), "clé".encode(), b"a\x00b"):
        file.write_bytes(content)
        with pytest.raises(AddressRefused) as raised:
            key_of("den", file)
        assert KEY not in str(raised.value)
    with pytest.raises(AddressRefused, match="cannot be read"):
        key_of("den", tmp_path)  # a folder in its place
