"""The long run: what `make test` leaves out for its length, small mistakes put in on purpose, other people's machines.

    make soak                           everything, for hours
    make soak ARGS="machine mutation-log" these parts; --list tells which there are
    make soak ARGS="--for COMMIT"       what CI runs of it: by turns one part, and the quick tests as one stranger

A stranger is an ordinary user, in a clone whose path has a space, with a home, a locale, a time zone, a terminal and
fonts of their own. Where this is run as root, they are one in a name space of its own, so that nothing of it stays;
else, and where a container forbids that, they are whoever runs it. What a machine has not (a Python, a font, a false
clock) is said and left out. Exit status 1: a part failed; 77: none could be run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / "bin" / "python"
PYTEST = [str(PYTHON), "-m", "pytest", "-n", "logical", "--maxprocesses=4", "--dist=loadgroup"]
LONG = [*PYTEST, "--hypothesis-profile=soak", "-o", "timeout=3600"]
MUTATED = tomllib.loads((ROOT / "tests" / "mutation" / "modules.toml").read_text(encoding="utf-8"))
SEED = 20270101  # the same each time: what fails can be found again
UID = 12345
LEFT_OUT = 77  # the exit status, as in other test runners, of what cannot be run here


@dataclass(frozen=True)
class Part:
    """A piece of the long run of at most 25 minutes on two cores: what it does, and the commands it is made of."""

    words: str
    commands: tuple[Sequence[str], ...]


@dataclass(frozen=True)
class Stranger:
    """Somebody else's machine. `python` is how its version begins; `fonts` are none, more, or the usual.

    `locale` is one that is installed for them, and `begins` what their clock says at first.
    """

    python: str
    variables: dict[str, str] = field(default_factory=dict)
    locale: str = ""
    begins: datetime | None = None
    fonts: str = "usual"
    umask: int = 0o022
    cores: int = 2
    shm: bool = True
    target: str = "test"

    @property
    def words(self) -> str:
        told = [f"as an ordinary user on Python {self.python}", f"umask {self.umask:03o}", f"{self.fonts} fonts"]
        told += [f"{name}={value}" for name, value in self.variables.items()]
        told += [f"locale {self.locale}"] if self.locale else []
        told += [f"on {self.begins:%Y-%m-%d}"] if self.begins is not None else []
        return ", ".join([*told, *([] if self.shm else ["no /dev/shm"]), *(["one core"] if self.cores == 1 else [])])


def bench(module: str, *arguments: str) -> list[str]:
    """A benchmark that fails where something is lost."""
    return [str(PYTHON), "-m", f"bench.{module}", *arguments]


def mutation(module: str) -> list[str]:
    """Small mistakes in a module of tests/mutation/modules.toml."""
    return [str(PYTHON), "-m", "tests.mutation.run", module, "--seed", str(SEED)]


PARTS = {
    "models": Part("all tests that load a model, at full length", ([*LONG, "-m", "model"],)),
    "processes": Part("all tests of processes, at full length", ([*LONG, "-m", "process and not model"],)),
    "histories": Part("random histories, at full length", ([*LONG, "-m", "stateful"],)),
    "cases": Part("every case of all other tests", ([*LONG, "-m", "not (model or process or stateful)"],)),
    "kills": Part(
        "kill -9, in the shell, the chat and the service, and terminals that go away",
        (
            bench("kill", "--n", "60"),
            bench("killed", "--n", "120"),
            bench("kill_service", "--n", "20"),
            bench("leaving"),
        ),
    ),
    **{f"mutation-{name}": Part(f"small mistakes in {name}", (mutation(name),)) for name in MUTATED},
}
STRANGERS = {
    "python-3.11.2": Stranger(
        "3.11.2", {"LANG": "C", "TZ": "Pacific/Chatham", "TERM": "dumb"}, fonts="none", umask=0o077
    ),
    "python-3.12": Stranger(
        "3.12",
        {"TZ": "America/St_Johns", "COLORFGBG": "0;15", "EDITOR": "false", "NO_COLOR": "1"},
        locale="de_DE",
        fonts="more",
        umask=0o002,
    ),
    "python-3.13": Stranger(
        "3.13", {"TZ": "Asia/Kathmandu"}, locale="tr_TR", begins=datetime(2027, 12, 31, 18, 8, tzinfo=UTC)
    ),
    "python-3.14": Stranger("3.14", {"LANG": "en_US.UTF-8", "TZ": "UTC"}),
    "machine": Stranger("3.", {"LC_ALL": "xx_XX.UTF-8", "TZ": "Pacific/Apia"}, shm=False, cores=1, target="check"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run some parts; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="only these; --list tells which there are")
    parser.add_argument("--for", dest="commit", metavar="COMMIT", help="what CI runs for a commit")
    parser.add_argument("--list", action="store_true", help="tell which parts there are")
    chosen = parser.parse_args(arguments)
    known = {name: part.words for name, part in PARTS.items()} | {name: who.words for name, who in STRANGERS.items()}
    if chosen.list:
        print("\n".join(f"{name:<14} {words}" for name, words in known.items()))
        return 0
    names = by_turns(commit_of(chosen.commit)) if chosen.commit else chosen.parts or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"There is no part {', '.join(unknown)}. There are: {', '.join(known)}.")
    failed: list[str] = []
    left_out = 0
    for name in names:
        say(f"\nsoak: {name}: {known[name]}")
        began = time.monotonic()
        if name in STRANGERS:
            who = STRANGERS[name]
            status = as_stranger(name, replace(who, target="check") if chosen.commit else who)
        else:
            status = in_turn(PARTS[name])
        verdict = {0: "passed", LEFT_OUT: "left out"}.get(status, "FAILED")
        say(f"soak: {name}: {verdict} in {time.monotonic() - began:.0f} s")
        left_out += status == LEFT_OUT
        if status not in (0, LEFT_OUT):
            failed.append(name)
            say(f'soak: to run it again: make soak ARGS="{name}"')
    return 1 if failed else LEFT_OUT if left_out == len(names) else 0


def by_turns(commit: str, there: Callable[[str], Path | None] | None = None) -> list[str]:
    """The part and the stranger whose turn it is with a commit, by its hash; Pythons that are not here have none."""
    find = there or python_like
    number = int(commit[:12], 16)
    parts = list(PARTS)
    strangers = [name for name, who in STRANGERS.items() if find(who.python) is not None]
    turn = parts[number % len(parts)]
    return [turn, strangers[number // len(parts) % len(strangers)]] if strangers else [turn]


def commit_of(revision: str) -> str:
    """The hash of a revision of this clone. Raises CalledProcessError where there is none."""
    command = ["git", "rev-parse", "--verify", f"{revision}^{{commit}}"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def in_turn(part: Part) -> int:
    """Run the commands of a part, up to the first that fails; the exit status."""
    group_installed()
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    for command in part.commands:
        command = [*command, f"--hypothesis-seed={SEED}"] if "pytest" in command else list(command)
        say(f"$ {shlex.join(command)}")
        if status := subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            return status
    return 0


def group_installed() -> None:
    """What the long run takes beside the set-up, installed if it is not there. Raises CalledProcessError."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    command = [str(PYTHON), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), *groups["soak"]]
    subprocess.run(command, check=True)


def python_like(version: str) -> Path | None:
    """A Python of a version: Debian's, one on the path, or one of pyenv's."""
    short = ".".join(version.split(".")[:2]).rstrip(".")
    places = [Path("/usr/bin/python3"), *map(Path, filter(None, [shutil.which(f"python{short}")]))]
    places += sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python3"), reverse=True)
    for place in places:
        if place.exists() and _version(place).startswith(version):
            return place
    return None


def _version(python: Path) -> str:
    told = subprocess.run(
        [python, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:3], sep='.')"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip() if told.returncode == 0 else ""


def as_stranger(name: str, who: Stranger) -> int:
    """Set a new clone up and run its tests as somebody else; the exit status."""
    python = python_like(who.python)
    if python is None:
        say(f"There is no Python {who.python} here.")
        return LEFT_OUT
    with tempfile.TemporaryDirectory(prefix="clew-soak-") as folder:
        place = Path(folder)
        clone, home = place / "a cløne" / "clew", place / "somebody's höme"
        home.mkdir()
        subprocess.run(["git", "clone", "-q", ROOT, clone], check=True)
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "CI": os.environ.get("CI", "")}
        variables |= {key: value for key, value in os.environ.items() if key.startswith("PIP_")}
        variables |= who.variables | {"PYTHON": str(python), "CLEW_FIRST": "small"}
        variables |= false_clock(place / "clock", who.begins) if who.begins is not None else {}
        variables |= installed_locale(place / "locales", who.locale) if who.locale else {}
        fonts = place / "fonts"
        if who.fonts == "more":
            for package in ("fonts-liberation", "fonts-wqy-microhei"):
                unpacked(package, fonts)
            if not any(fonts.rglob("*.tt[fc]")):
                say("No more fonts are to be had here.")
        others = '.venv/bin/clew --home "$HOME/another clew" serve > /dev/null 2>&1 &'
        script = f"umask {who.umask:03o}\nset -e\nmake setup\n{others}\nmake {who.target}\n"
        if who.cores == 1:
            script = f"taskset -cp 0 $$ > /dev/null\n{script}"
        if os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0:
            return _in_a_name_space(who, place, clone, variables, script)
        say(f"Nothing may be mounted here: user {os.geteuid()}, the usual fonts and /dev/shm.")
        return subprocess.run(["bash", "-c", script], cwd=clone, env=variables, check=False).returncode


def _in_a_name_space(who: Stranger, place: Path, clone: Path, variables: dict[str, str], script: str) -> int:
    """Run a script as an ordinary user who sees other fonts and no /root; what is mounted ends with it."""
    password = place / "passwd"
    password.write_text(
        Path("/etc/passwd").read_text() + f"somebody:x:{UID}:{UID}::{variables['HOME']}:/bin/bash\n", encoding="utf-8"
    )
    for path in [place, *place.rglob("*")]:
        os.chown(path, UID, UID, follow_symlinks=False)
    pyenv = Path.home() / ".pyenv" / "versions"
    steps = [f"mount --bind {shlex.quote(str(password))} /etc/passwd"]
    if pyenv.is_dir():
        steps += [
            "mount -t tmpfs -o mode=755 none /mnt && mkdir /mnt/versions",
            f"mount --bind {pyenv} /mnt/versions",
            f"mount -t tmpfs -o mode=755 none {Path.home()} && mkdir -p {pyenv}",
            f"mount --move /mnt/versions {pyenv}",
        ]
    if who.fonts != "usual" and Path("/usr/share/fonts").is_dir():
        there = place / "fonts"
        there.mkdir(exist_ok=True)
        steps.append(f"mount --bind {shlex.quote(str(there))} /usr/share/fonts")
    if not who.shm:
        steps.append("mount -t tmpfs -o mode=755 none /dev/shm")  # nobody but root may write there
    drop = ["setpriv", "--reuid", str(UID), "--regid", str(UID), "--clear-groups", "env", "-i"]
    drop += [*(f"{name}={value}" for name, value in variables.items()), "bash", "-c", script]
    whole = " && ".join([*steps, f"cd {shlex.quote(str(clone))}", f"exec {shlex.join(drop)}"])
    return subprocess.run(["unshare", "-m", "bash", "-c", whole], check=False).returncode


def false_clock(folder: Path, now: datetime) -> dict[str, str]:
    """What lets a process take another moment for now; nothing, which is said, where that cannot be had.

    `folder` has no space in its path: nothing that has can be preloaded.
    """
    folder.mkdir()
    library, source = folder / "clock.so", ROOT / "scripts" / "clock.c"
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=False).returncode == 0:
        return {"LD_PRELOAD": str(library), "CLOCK_AHEAD_S": str(round(now.timestamp() - time.time()))}
    say("There is no false clock to be had here: the true one is used.")
    return {}


def installed_locale(folder: Path, name: str) -> dict[str, str]:
    """What makes a locale the one in use; where it cannot be made, which is said, it is one that is not installed."""
    source, made = unpacked("locales", folder / "source") / "usr/share/i18n", folder / f"{name}.UTF-8"
    command = ["localedef", "-i", name, "-f", "UTF-8", str(made)]
    if subprocess.run(command, env=os.environ | {"I18NPATH": str(source)}, check=False).returncode:
        say(f"The locale {name} is not to be had here.")
    return {"LC_ALL": made.name, "LOCPATH": str(folder)}


def unpacked(package: str, folder: Path) -> Path:
    """A folder with the files of a Debian package, which is not installed; without them where it cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.which("apt-get") and shutil.which("dpkg-deb"):
        with tempfile.TemporaryDirectory() as fetched:
            got = subprocess.run(["apt-get", "-q", "download", package], cwd=fetched, capture_output=True, check=False)
            if got.returncode == 0:
                for file in Path(fetched).glob("*.deb"):
                    subprocess.run(["dpkg-deb", "-x", file, folder], check=True)
    return folder


def say(text: str) -> None:
    """At once, also into a pipe."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
