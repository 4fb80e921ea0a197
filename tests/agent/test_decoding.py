"""Bytes are the letters that a browser would show, and one that is none costs itself alone."""

import codecs

import pytest

from agent.decoding import decoded, known

TEXTS = {
    "gb2312": ("朱镕基 喆 €", "gb18030"),
    "x-sjis": ("日本①Ⅱ髙", "cp932"),
    "iso-8859-1": ("“quoted” – 5 €", "cp1252"),
    "ISO-8859-9": ("İstanbul’da", "cp1254"),
    "ks_c_5601-1987": ("똠방각하", "cp949"),
    "big5": ("香港㗎", "big5hkscs"),
    "iso-2022-jp": ("日本", "iso2022_jp"),
    "koi8-r": ("Прилив", "koi8_r"),
    "UTF-16": ("für 日", "utf-16-le"),
}


@pytest.mark.parametrize("label", TEXTS)
def test_names_mean_what_they_mean_on_the_web(label: str) -> None:
    text, codec = TEXTS[label]
    assert decoded(text.encode(codec), label).text == text
    assert decoded(text.encode(codec), "no-such-name", f" {label} ").text == text


def test_each_name_is_of_an_encoding_that_is_one_of_text() -> None:
    assert all(codecs.lookup(codec)._is_text_encoding for codec in known().values())
    for trick in ("utf-7", "unicode_escape", "rot13", "zip", "idna", "hex"):
        assert decoded(rb"+AGE- \x61", trick).text == r"+AGE- \x61"


@pytest.mark.parametrize("label", ["", "utf-8", "iso-8859-1", "no-such-name"])
def test_one_bad_byte_of_a_text_in_utf_8_is_one_letter_that_is_not_known(label: str) -> None:
    found = decoded("Käse für 5 €, ça va".encode() + b" \xff!", label)
    assert (found.text, found.unknown) == ("Käse für 5 €, ça va \ufffd!", 1)


@pytest.mark.parametrize("label", ["utf-8", "iso-8859-1", "ascii"])
def test_what_is_said_to_be_utf_8_and_is_not_is_of_windows(label: str) -> None:
    assert decoded("Ebbe und Flut für alle, sagt der Müller".encode("cp1252"), label).text.endswith("der Müller")


def test_what_is_not_named_is_of_windows_unless_it_is_utf_8() -> None:
    assert decoded("Käse – 5 €".encode("cp1252")).text == "Käse – 5 €"
    assert decoded("Käse 日".encode(), "shift_jis").text == "Käse 日", "whatever is said"
    assert decoded("\ufeffKäse".encode(), "koi8-r").text == "Käse"
