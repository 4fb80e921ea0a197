"""Fonts of this machine that can write a text; none is shipped, and none is fetched."""

import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

# Even ones first, then those that have many scripts; what else is there is not tried, so that a picture looks the same.
NAMES = (
    *("DejaVuSansMono.ttf", "NotoSansMono-Regular.ttf", "LiberationMono-Regular.ttf", "Menlo.ttc", "consola.ttf"),
    *("DejaVuSans.ttf", "NotoSans-Regular.ttf", "FreeSans.ttf", "Arial Unicode.ttf", "arial.ttf"),
    *("NotoSansCJK-Regular.ttc", "NotoSansMonoCJKjp-Regular.otf", "wqy-zenhei.ttc", "DroidSansFallbackFull.ttf"),
    *("Hiragino Sans GB.ttc", "PingFang.ttc", "AppleSDGothicNeo.ttc", "msgothic.ttc", "msyh.ttc", "malgun.ttf"),
    *("NotoSansArabic-Regular.ttf", "NotoSansHebrew-Regular.ttf", "NotoSansDevanagari-Regular.ttf", "unifont.otf"),
    *("NotoEmoji-Regular.ttf", "Symbola.ttf", "seguisym.ttf", "seguiemj.ttf"),
)
MISSING = "\U0010ffff"  # no font has it


class NoFont(Exception):
    """There is no font here that can write `text`."""

    def __init__(self, text: str) -> None:
        super().__init__(f"No font on this computer can show “{text}”.")
        self.text = text


def folders() -> list[Path]:
    """Where fonts are on this system."""
    home = Path.home()
    if sys.platform == "darwin":
        return [Path("/System/Library/Fonts"), Path("/Library/Fonts"), home / "Library/Fonts"]
    if sys.platform == "win32":
        return [Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts"]
    data = os.environ.get("XDG_DATA_HOME", "")
    return [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path(data or home / ".local/share") / "fonts"]


class Fonts:
    """The fonts found in `places`, of one size; each character is looked up once."""

    def __init__(self, size: float, places: Sequence[Path]) -> None:
        self._size = size
        self._paths = _found(places)
        self._fonts: list[FreeTypeFont] = []
        self._whole = False  # all are open, Pillow's own too
        self._of: dict[str, FreeTypeFont | None] = {}

    def runs(self, text: str) -> list[tuple[str, "FreeTypeFont"]]:
        """The text in runs, each with a font that has all of it. Raises NoFont.

        What is shaped (joined or marked letters, written from right to left) goes to one font, if that can shape.
        """
        from PIL import features

        if any(_is_shaped(character) for character in text):
            if features.check("raqm"):
                for font in self._all():
                    if all(_has(font, character) for character in text if not character.isspace()):
                        return [(text, font)]
            raise NoFont(text)
        runs: list[tuple[str, FreeTypeFont]] = []
        for character in text:
            found = self._font_of(character)
            if found is None:
                raise NoFont(character)
            if runs and runs[-1][1] is found:
                runs[-1] = (runs[-1][0] + character, found)
            else:
                runs.append((character, found))
        return runs

    def _font_of(self, character: str) -> "FreeTypeFont | None":
        if character not in self._of:
            has = (font for font in self._all() if character.isspace() or _has(font, character))
            self._of[character] = next(has, None)
        return self._of[character]

    def _all(self) -> "Iterator[FreeTypeFont]":
        """The fonts in their order, opened when they are first asked; Pillow's own, of Latin letters, at the end."""
        from PIL import ImageFont

        yield from self._fonts
        while self._paths:
            path = self._paths.pop(0)
            try:
                self._fonts.append(ImageFont.truetype(str(path), self._size))
            except OSError:  # not a font that FreeType reads: the next
                continue
            yield self._fonts[-1]
        if not self._whole:
            self._whole = True
            own = ImageFont.load_default(self._size)
            assert isinstance(own, ImageFont.FreeTypeFont)
            self._fonts.append(own)
            yield own


def _found(places: Sequence[Path]) -> list[Path]:
    """The named fonts in these folders and below, in the order of their names."""
    files: dict[str, Path] = {}
    for place in places:
        for folder, _, names in sorted(os.walk(place)):
            for name in names:
                if name in NAMES:
                    files.setdefault(name, Path(folder) / name)
    return [files[name] for name in NAMES if name in files]


def _is_shaped(character: str) -> bool:
    joins = unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")
    return joins or unicodedata.bidirectional(character) in ("R", "AL", "AN")


def _has(font: "FreeTypeFont", character: str) -> bool:
    """Whether a font has a character: it looks other than what no font has."""
    if unicodedata.category(character) in ("Mn", "Cf"):
        return True  # alone it has no look of its own
    return bytes(font.getmask(character)) != bytes(font.getmask(MISSING))
