"""The native clipboard tool is found where there is a desktop, and a failing one is told."""

from pathlib import Path

import pytest

from tui.clipboard import ClipboardTool, copy_native, native_tool


def script(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def test_the_tool_of_the_desktop_is_found_and_none_without_a_desktop(tmp_path: Path) -> None:
    script(tmp_path, "xclip", "cat")
    assert native_tool({"PATH": str(tmp_path)}, "linux") is None
    script(tmp_path, "wl-copy", "cat")
    both = native_tool({"PATH": str(tmp_path), "DISPLAY": ":0", "WAYLAND_DISPLAY": "w"}, "linux")
    assert both is not None
    assert both.name == "wl-copy"
    x_only = native_tool({"PATH": str(tmp_path), "DISPLAY": ":0"}, "linux")
    assert x_only is not None
    assert x_only.name == "xclip"


@pytest.mark.process
async def test_the_text_reaches_the_tool_and_one_that_fails_or_is_gone_is_told(tmp_path: Path) -> None:
    tool = script(tmp_path, "copy", f'cat > "{tmp_path}/out"')
    assert await copy_native("häh\n", ClipboardTool("copy", (str(tool),)))
    assert (tmp_path / "out").read_text() == "häh\n"
    tool = script(tmp_path, "copy", "exit 3")
    assert not await copy_native("x", ClipboardTool("copy", (str(tool),)))
    assert not await copy_native("x", ClipboardTool("gone", (str(tmp_path / "gone"),)))
