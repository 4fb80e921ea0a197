"""`clew models` with servers: what is asked, shown and written, and that nothing is when anything failed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from agent.settings import load_settings
from models.store import DEFAULT_CHAT
from tests.models.discovered_server import Discovered, discovered, listing, llama_server, ollama
from tests.tui.commands.conftest import Clew, Remember, Terminal, refused
from tui.exit_codes import ExitCode

KEY = "sk-very-secret"
Serve = Callable[[Discovered], Discovered]
Typed = Callable[..., list[str]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Have a server listen for as long as the test goes on."""
    with ExitStack() as stack:
        yield lambda server: stack.enter_context(discovered(server))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Have somebody at a terminal type these keys, one when each is asked for; what was asked."""

    def at_terminal(*keys: str) -> list[str]:
        asked: list[str] = []

        def getpass(prompt: str, stream: object) -> str:
            asked.append(prompt)
            if len(asked) > len(keys):
                raise EOFError
            return keys[len(asked) - 1]

        monkeypatch.setattr("getpass.getpass", getpass)
        monkeypatch.setattr("sys.stdin", Terminal())
        return asked

    return at_terminal


@pytest.fixture
def wanting(serve: Serve) -> Discovered:
    """A server that wants the key."""
    server = llama_server()
    server.key = KEY
    return serve(server)


def settle(home: Path, text: str) -> Path:
    """The settings, as somebody wrote them."""
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(text)
    return home / "config.toml"


def nothing_written(home: Path) -> bool:
    """Whether there is neither a server nor a key."""
    config = home / "config.toml"
    return (not config.exists() or load_settings(config).servers == {}) and not list((home / "keys").glob("*"))


def words_in(home: Path) -> str:
    """All that is written in a home, but the keys."""
    return "".join(
        each.read_text("utf-8", "replace") for each in home.rglob("*") if each.is_file() and "keys" not in each.parts
    )


def test_a_server_is_added_with_what_it_is_and_what_works(clew: Clew, home: Path, serve: Serve) -> None:
    server = serve(llama_server())
    ended = clew("models", "add", f"{server.address}/v1", "--name", "den")
    assert ended.code == ExitCode.OK
    head, models, model, what, *table = ended.out.splitlines()
    assert head == f"den: llama-server b6000-abc at {server.address}, 2 slots"
    assert (models, model.split()) == ("Models", ["Small-Chat.Q4_1", "97", "MB", "context", "4,096"])
    assert what == "What works with Small-Chat.Q4_1"
    assert len(table) == 8
    assert {line.rpartition("  ")[2] for line in table} == {"yes"}
    assert len({line.rindex("  ") for line in table}) == 1
    assert "clew models use Small-Chat.Q4_1@den" in ended.err
    written = load_settings(home / "config.toml").servers["den"]
    assert (written.address, written.kind, written.insecure) == (server.address, "llama", False)
    assert not (home / "keys").exists()


def test_nothing_of_the_user_is_said_to_a_server_that_is_tested(clew: Clew, serve: Serve, remember: Remember) -> None:
    remember("My password is rosebud.")
    server = serve(ollama())
    assert clew("models", "add", server.address).code == ExitCode.OK
    assert "rosebud" not in str(server.asked)


def test_the_table_as_json_is_one_object(clew: Clew, serve: Serve) -> None:
    server = serve(ollama())
    found = clew("models", "add", server.address, "--name", "den", "--json").json
    assert (found["name"], found["address"], found["product"]) == ("den", f"{server.address}/v1", "Ollama")
    assert found["tested"] == "qwen3:8b"  # not the embedding model, which comes first
    assert found["findings"]["cache"] == "not told"
    assert [each["name"] for each in found["models"]] == ["nomic-embed-text:latest", "qwen3:8b"]


def test_the_named_model_is_tested_and_one_that_is_not_there_is_told(clew: Clew, home: Path, serve: Serve) -> None:
    server = serve(ollama())
    ended = clew("models", "add", server.address, "--model", "gpt-9")
    assert ended.code == ExitCode.UNAVAILABLE
    assert "has no model gpt-9. It has: nomic-embed-text:latest, qwen3:8b" in ended.err
    assert nothing_written(home)
    assert clew("models", "add", server.address, "--model", "qwen3:8b").code == ExitCode.OK
    assert {each.body["model"] for each in server.asked if each.body} == {"qwen3:8b"}


@pytest.mark.restarts
def test_a_question_goes_to_the_model_of_a_server_that_it_names(clew: Clew, serve: Serve, words_only: None) -> None:
    server = serve(ollama())
    assert clew("models", "add", server.address, "--name", "den").code == ExitCode.OK
    asked = clew("ask", "--model", "qwen3:8b@den", "hello")
    assert (asked.code, bool(asked.out.strip())) == (ExitCode.OK, True), asked.err
    refused(clew, (("ask", "--model", "qwen3:8b@elsewhere", "hello"), ExitCode.UNAVAILABLE, "There is no model called"))


def test_a_key_from_stdin_lies_in_a_private_file_and_nowhere_else(clew: Clew, home: Path, wanting: Discovered) -> None:
    ended = clew("models", "add", wanting.address, "--name", "den", "--key-stdin", stdin=f"{KEY}\n".encode())
    assert ended.code == ExitCode.OK
    file = home / "keys" / "den"
    assert file.read_text() == f"{KEY}\n"
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert KEY not in ended.out + ended.err + words_in(home)
    tested = clew("models", "test", "den")
    assert (tested.code, KEY in tested.out + tested.err) == (ExitCode.OK, False)


def test_what_is_no_key_on_stdin_is_said_and_nothing_is_asked(clew: Clew, home: Path, serve: Serve) -> None:
    server = serve(llama_server())
    for given in ("", "\n", "clé\n"):
        ended = clew("models", "add", server.address, "--key-stdin", stdin=given.encode())
        assert ended.code in (ExitCode.USAGE, ExitCode.UNAVAILABLE)
        assert (server.asked, nothing_written(home)) == ([], True)


def test_a_key_is_asked_for_where_it_is_wanted_and_somebody_is_there_and_a_wrong_one_or_none_leaves_nothing(
    clew: Clew, home: Path, wanting: Discovered, typed: Typed
) -> None:
    for keys in ((), ("",), ("wrong-secret",)):
        typed(*keys)
        ended = clew("models", "add", wanting.address)
        assert ended.code == ExitCode.UNAVAILABLE
        assert ("does not take the key" if any(keys) else "it wants a key") in ended.err
        assert "Nothing was added. Its key, read by --key-stdin, would be kept in" in ended.err
        assert "wrong-secret" not in ended.out + ended.err + words_in(home)
        assert nothing_written(home)
    prompts = typed(KEY)
    assert clew("models", "add", wanting.address, "--name", "den").code == ExitCode.OK
    assert prompts == ["The key of den (it is not shown): "]
    assert (home / "keys" / "den").read_text() == f"{KEY}\n"


def test_a_key_of_a_variable_is_used_and_not_written(clew: Clew, home: Path, wanting: Discovered) -> None:
    assert clew("models", "add", wanting.address, "--name", "den", CLEW_KEY_DEN=KEY).code == ExitCode.OK
    assert KEY not in words_in(home)
    assert not (home / "keys").exists()


def test_another_machine_needs_https_and_a_key_that_is_asked_for_first(clew: Clew, home: Path, typed: Typed) -> None:
    refused(  # that nothing is sent is the tests' own rule: no network
        clew,
        (("models", "add", "http://10.0.0.1:8080"), ExitCode.UNAVAILABLE, "over http"),
        (("models", "add", "https://gpu.example"), ExitCode.UNAVAILABLE, "no key for it"),
    )
    prompts = typed("")
    ended = clew("models", "add", "https://gpu.example", "--model", "m")
    assert (ended.code, prompts) == (ExitCode.UNAVAILABLE, ["The key of gpu (it is not shown): "])
    assert "there is no key for it" in ended.err
    assert nothing_written(home)


def test_insecure_is_said_aloud_and_kept_but_not_where_it_is_not_needed(
    clew: Clew, home: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(listing("vllm"))
    ended = clew("models", "add", server.address, "--name", "here", "--insecure")
    assert (ended.code, "Insecure" in ended.err) == (ExitCode.OK, False)
    assert not load_settings(home / "config.toml").servers["here"].insecure
    monkeypatch.setattr("models.servers.address.is_local", lambda host: False)
    ended = clew("models", "add", server.address, "--name", "den", "--insecure")
    assert ended.code == ExitCode.OK
    assert "anybody on the network between this computer and 127.0.0.1" in ended.err
    assert load_settings(home / "config.toml").servers["den"].insecure
    assert "insecure" in clew("models", "list").out


def test_a_password_in_an_address_is_never_shown(clew: Clew, home: Path) -> None:
    ended = clew("models", "add", f"http://ada:{KEY}@localhost:8080")
    assert ended.code == ExitCode.UNAVAILABLE
    assert KEY not in ended.out + ended.err
    settle(home, f'[servers.den]\naddress = "http://ada:{KEY}@localhost:8080/?token={KEY}"\n')
    for json in ((), ("--json",)):
        listed = clew("models", "list", *json)
        assert "http://localhost:8080" in listed.out
        assert KEY not in listed.out + listed.err
    asked = clew("models", "rm", "den")
    assert KEY not in asked.out + asked.err


def test_a_name_that_cannot_be_is_wrong_usage(clew: Clew, home: Path, serve: Serve) -> None:
    settle(home, '[servers.den]\naddress = "http://localhost:1"\n')
    server = serve(llama_server())
    for name, words in (
        ("My den", "cannot be a server's name"),
        (DEFAULT_CHAT, "is the name of a model"),
        ("den", "another server already"),
    ):
        refused(clew, (("models", "add", server.address, "--name", name), ExitCode.USAGE, words))
    assert server.asked == []


def test_servers_without_a_name_get_one_and_the_same_one_keeps_it(clew: Clew, home: Path, serve: Serve) -> None:
    first, second = serve(llama_server()), serve(ollama())
    for server in (first, second, first):
        assert clew("models", "add", server.address).code == ExitCode.OK
    servers = load_settings(home / "config.toml").servers
    assert {name: each.address for name, each in servers.items()} == {"local": first.address, "local-2": second.address}


def test_a_server_that_cannot_chat_is_not_added(clew: Clew, home: Path, serve: Serve) -> None:
    one_model = {"/v1/models": {"data": [{"id": "m"}]}}
    for server in (
        Discovered(),
        Discovered(pages={"/props": b"<html>", "/v1/models": b"<html>"}),
        Discovered(pages={"/v1/models": {"data": []}}),
        Discovered(pages=one_model, says=""),
        Discovered(pages=one_model, failing={"/v1/chat/completions": 500}),
        Discovered(pages=one_model, failing={"/v1/chat/completions": 429}),
    ):
        refused(clew, (("models", "add", serve(server).address), ExitCode.UNAVAILABLE, ""))
        assert nothing_written(home)


def test_names_of_models_cannot_write_on_the_terminal(clew: Clew, serve: Serve) -> None:
    server = Discovered(pages={"/v1/models": {"data": [{"id": "m\x1b[31m\n\u202ered", "owned_by": "x"}]}})
    ended = clew("models", "add", serve(server).address)
    assert ended.code == ExitCode.OK
    assert not {"\x1b", "\u202e"} & set(ended.out + ended.err)


def test_a_server_is_tested_again_by_its_name_or_with_a_model(clew: Clew, serve: Serve) -> None:
    server = serve(ollama())
    clew("models", "add", server.address, "--name", "den")
    server.schema = False
    table = clew("models", "test", "qwen3:8b@den")
    assert table.code == ExitCode.OK
    assert "JSON by a schema" in table.out
    (found,) = clew("models", "test", "den", "--json").json
    assert found["findings"]["schema"] == "no"
    assert clew("models", "test", "gpt-9@den").code == ExitCode.UNAVAILABLE
    unknown = clew("models", "test", "nobody")
    assert (unknown.code, "no server nobody" in unknown.err) == (ExitCode.CONFIG, True)


def test_of_a_pool_every_address_is_tested_and_one_that_is_down_is_told(clew: Clew, home: Path, serve: Serve) -> None:
    with discovered(llama_server()) as gone:
        down = gone.address
    up = serve(llama_server()).address
    settle(home, f'[servers.pool]\naddress = ["{down}", "{up}"]\n')
    ended = clew("models", "test", "pool", "--json")
    assert ended.code == ExitCode.UNAVAILABLE
    first, second = ended.json
    assert "nobody answers" in first["error"]
    assert second["product"] == "llama-server"


def test_the_list_names_the_servers_and_asks_none(clew: Clew, home: Path, serve: Serve) -> None:
    server = serve(llama_server())
    den, pool = f'[servers.den]\naddress = "{server.address}"', '[servers.pool]\naddress = ["http://a:1", "http://b:2"]'
    settle(home, f'model = "m@den"\n{den}\n{pool}\n')
    listed = clew("models", "list")
    lines = listed.out.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("Servers"))
    found = [line.split() for line in lines[at + 1 : at + 3]]
    assert found == [["*", "den", server.address], ["pool", "http://a:1,", "http://b:2"]]
    rows = [row for row in clew("models", "list", "--json").json if row["kind"] == "server"]
    told = [(row["name"], row["in_use"], row["addresses"]) for row in rows]
    assert told == [("den", True, [server.address]), ("pool", False, ["http://a:1", "http://b:2"])]
    assert server.asked == []
    models = next(row for row in clew("models", "list", "--json").json if row["kind"] == "chat")
    assert set(models) <= set(rows[0])


def test_a_model_on_a_server_is_chosen_without_asking_it_and_a_file_with_an_at_in_its_name_is_a_file(
    clew: Clew, home: Path, serve: Serve, tmp_path: Path
) -> None:
    server = serve(llama_server())
    config = settle(home, f'[servers.den]\naddress = "{server.address}"\n')
    assert clew("models", "use", "qwen3:8b@den").code == ExitCode.OK
    assert load_settings(config).model == "qwen3:8b@den"
    (tmp_path / "mine@den.gguf").write_text("once upon a time")
    refused(
        clew,
        (("models", "use", "qwen3:8b@nobody"), ExitCode.UNAVAILABLE, "no server nobody"),
        (("models", "use", str(tmp_path / "mine@den.gguf")), ExitCode.UNAVAILABLE, "mine@den.gguf is not a GGUF model"),
    )
    assert load_settings(config).model == "qwen3:8b@den"
    assert server.asked == []


def test_a_server_is_removed_with_its_key_when_that_is_meant(clew: Clew, home: Path, serve: Serve) -> None:
    server = serve(llama_server())
    clew("models", "add", server.address, "--name", "den", "--key-stdin", stdin=f"{KEY}\n".encode())
    clew("models", "use", "Small-Chat.Q4_1@den")
    asked = clew("models", "rm", "den")
    assert asked.code == ExitCode.FAILED
    assert f"den is a server ({server.address}). Remove it and its key?" in asked.err
    assert (home / "keys" / "den").exists()
    removed = clew("models", "rm", "den", "--yes")
    assert removed.code == ExitCode.OK
    assert "still use a model of it" in removed.err
    assert nothing_written(home)
