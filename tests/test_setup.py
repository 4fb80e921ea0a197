"""The set-up makes a small stand-in for a clone ready through a local index, once, and fails in words."""

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import bootstrap
from tests.models.servers import Site, serving

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
NATIVE = "llama_cpp_python"

# A build backend that needs nothing: it makes a wheel of one empty module, and counts how often.
BACKEND = """
import os, pathlib, zipfile
NAME = {name!r}
def _build(folder, config_settings=None, metadata_directory=None):
    if NAME == "llama_cpp_python":
        with open(os.environ["BUILDS"], "a") as file:
            file.write("built\\n")
        if os.environ.get("BREAK_BUILD"):
            raise RuntimeError("no such header, see http://user:secret@index.example/simple")
    wheel = f"{{NAME}}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, wheel), "w") as archive:
        about = f"{{NAME}}-1.0.dist-info/"
        archive.writestr(about + "METADATA", f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: 1.0\\n")
        archive.writestr(about + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        archive.writestr(about + "RECORD", "")
        archive.writestr(NAME + "_stub.py", "")
    return wheel
build_wheel = build_editable = _build
"""
PYPROJECT = """[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "{name}"
version = "1.0"
"""


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for name, text in _files(NATIVE).items():
                about = tarfile.TarInfo(f"{NATIVE}-1.0/{name}")
                about.size = len(text)
                archive.addfile(about, io.BytesIO(text.encode()))
        site.files[f"/files/{NATIVE}-1.0.tar.gz"] = packed.getvalue()
        site.pages["/simple/llama-cpp-python/"] = f'<a href="/files/{NATIVE}-1.0.tar.gz">{NATIVE}-1.0.tar.gz</a>'
        yield site


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "a clone"
    project.mkdir()
    for name, text in _files("clew_stand_in").items():
        (project / name).write_text(text)
    (project / "constraints.txt").write_text("llama_cpp_python==1.0\n")
    return project


def _files(name: str) -> dict[str, str]:
    texts = {"backend.py": BACKEND.format(name=name), "pyproject.toml": PYPROJECT.format(name=name)}
    return texts | {"PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"}


def set_up(project: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PIP_") and key != "XDG_CACHE_HOME"}
    home = {"HOME": str(project.parent), "BUILDS": str(project.parent / "builds")}
    return subprocess.run(
        [sys.executable, ROOT / "scripts" / "bootstrap.py", "--project", project, "--no-models"],
        env=clean | home | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def builds(project: Path) -> int:
    return len((project.parent / "builds").read_text().splitlines())


def test_a_clone_is_made_ready_once_and_then_found_ready_without_any_network(site: Site, project: Path) -> None:
    first = set_up(project, site.environment)
    assert first.returncode == 0, first.stderr
    assert (project / ".venv" / "bin" / "python").exists()
    assert "Building llama.cpp" in first.stderr
    requests = len(site.offsets)

    nowhere = site.environment | {"PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
    second = set_up(project, nowhere)
    assert (second.returncode, second.stderr, len(site.offsets)) == (0, "", requests)

    shutil.rmtree(project / ".venv")
    again = set_up(project, nowhere)
    assert again.returncode == 0, again.stderr
    assert "Building" not in again.stderr
    assert builds(project) == 1

    (project / "constraints.txt").write_text("llama_cpp_python==1.0\nother==2.0\n")
    changed = set_up(project, nowhere)
    assert "Installing" in changed.stderr
    assert builds(project) == 1


def test_a_build_that_fails_shows_its_end_without_addresses_and_leaves_nothing_half_done(
    site: Site, project: Path
) -> None:
    failed = set_up(project, site.environment | {"BREAK_BUILD": "1"})
    assert failed.returncode == 1
    assert "no such header" in failed.stderr
    assert "secret" not in failed.stderr
    assert "127.0.0.1" not in failed.stderr
    assert not list(project.parent.rglob("clew-setup.json"))
    assert not list((project.parent / ".cache").rglob("*.whl"))


def test_missing_tools_are_named_with_the_command_that_installs_them_before_anything_is_made(
    project: Path, tmp_path: Path
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("apt-get", "sudo"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    missing = set_up(project, {"PATH": str(tools), "CC": "", "CXX": ""})
    assert missing.returncode == 1
    assert "a C compiler and a C++ compiler and cmake" in missing.stderr
    assert "apt-get install build-essential cmake\n" in missing.stderr
    assert not (project / ".venv").exists()


def test_the_wheel_is_kept_apart_by_what_it_depends_on(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CMAKE_ARGS", raising=False)
    plain = bootstrap.wheel_folder(project)
    assert plain == bootstrap.wheel_folder(project)
    assert plain.parent == tmp_path / "cache" / "clew" / "wheels"
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_CUDA=on")
    with_flags = bootstrap.wheel_folder(project)
    monkeypatch.delenv("CMAKE_ARGS")
    (project / "constraints.txt").write_text("llama-cpp-python==1.1\n")
    assert len({plain, with_flags, bootstrap.wheel_folder(project)}) == 3


def test_an_older_python_without_a_newer_one_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 10, 2))
    with pytest.raises(bootstrap.SetupFailed, match=r"needs Python 3\.11 or newer.*make chat PYTHON="):
        bootstrap._with_newer_python()
    assert bootstrap.main(["--no-models"]) == 1


def test_every_dependency_has_one_plain_version() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    names = [line.partition("==")[0].lower().replace("_", "-") for line in lines]
    assert len(set(names)) == len(names)
    assert {"llama-cpp-python", "textual", "kuzu", "pytest", "mypy", "ruff"} <= set(names)
    assert not [line for line in lines if line.count("==") != 1 or "/" in line or "@" in line or " " in line]


def test_plain_make_explains_itself_and_sets_up_nothing(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    told = subprocess.run(["make", "-C", tmp_path], capture_output=True, text=True, check=True).stdout
    assert all(f"make {target}" in told for target in ("chat", "test", "setup", "clean"))
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def test_no_committed_file_holds_the_address_of_an_index() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    hosts = [".".join(words).encode() for words in (("pypi", "org/simple"), ("files", "pythonhosted", "org"))]
    texts = {name: (ROOT / name).read_bytes() for name in listed.split("\0") if (ROOT / name).is_file()}
    assert "constraints.txt" in texts
    assert not [name for name, text in texts.items() if any(host in text for host in hosts)]


@pytest.mark.parametrize(
    ("outcome", "summary", "passes"),
    [
        ("echo '66 passed in 9.23s'", "66 passed in 9.23s", True),
        ("echo '2 failed, 64 passed in 9.23s'; exit 1", "2 failed, 64 passed in 9.23s", False),
        ("echo 'E501 Line too long'; exit 1", "pytest was not reached", False),
    ],
)
def test_ci_ends_with_pytests_summary_and_its_verdict(tmp_path: Path, outcome: str, summary: str, passes: bool) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    (tmp_path / "Makefile").write_text(f"test:\n\t@{outcome}\n")
    ended = subprocess.run([tmp_path / ".ci" / "run"], cwd="/", capture_output=True, text=True, check=False)
    assert ended.stdout.splitlines()[-1] == summary
    assert (ended.returncode == 0) == passes
