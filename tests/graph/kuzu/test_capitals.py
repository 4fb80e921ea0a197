"""Where the locale has other capitals, as Turkish has of "i", the engine knows its functions all the same."""

import os
import platform
import string
import subprocess
import sys
from pathlib import Path

import pytest

ASKED = """
import ctypes, sys
from pathlib import Path
from graph.kuzu import engine
assert chr(ctypes.CDLL(None).toupper(ord("i"))) == "i", "the locale is not the one that is tried"
connection = engine.Database(Path(sys.argv[1]), pool_bytes=1 << 28, most_bytes=1 << 32).connect()
print(connection.execute("RETURN list_contains([1], 1), CAST(date('2026-01-02') AS STRING)").rows())
"""


@pytest.mark.process
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries are told of locales in other ways")
def test_functions_are_found_where_capitals_are_turkish(tmp_path: Path) -> None:
    letters = string.ascii_lowercase
    pairs = ";".join(f"(<U{ord(each):04X}>,<U{ord(each.upper()):04X}>)" for each in letters.replace("i", ""))
    codes = "\n".join(f"<U{code:04X}> /x{code:02x} _" for code in range(128))
    known, source, made = tmp_path / "codes", tmp_path / "source", tmp_path / "tr_XX"
    known.write_text(f"<code_set_name> ASCII\n<escape_char> /\nCHARMAP\n{codes}\nEND CHARMAP\n")
    source.write_text(f"escape_char /\nLC_CTYPE\ntoupper {pairs}\nEND LC_CTYPE\n")
    subprocess.run(["localedef", "-c", "-f", known, "-i", source, made], capture_output=True, check=False)
    environment = {name: value for name, value in os.environ.items() if name != "LC_ALL"}
    environment |= {"LOCPATH": str(tmp_path), "LC_CTYPE": made.name, "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", ASKED, str(tmp_path / "graph")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.returncode) == ("[[True, '2026-01-02']]\n", 0), ended.stderr
