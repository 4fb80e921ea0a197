"""Where something lies that is read from its source: a post, a page or a file, in one way of writing each.

What names a post on its web page and its at:// address are the same; so are a page with and without what stands behind
the #. Everything here is pure, and asks nobody.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, quote, urlsplit

from agent.errors import AgentError

Sort = Literal["thread", "page", "file"]

LONGEST = 2048  # characters of an address
OWN = "own:"  # before a host of this machine or a private network, as it stands in the setting
POSTS = "app.bsky.feed.post"  # the collection that posts are in
WEB = ("bsky.app", "www.bsky.app")  # pages that show posts
UNTOUCHED = "Nothing was attached."

_DID = r"did:[a-z]+:[A-Za-z0-9._:%-]{1,200}"
_HANDLE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_RKEY = r"[A-Za-z0-9._:~-]{1,512}"
DID = re.compile(_DID)
HANDLE = re.compile(_HANDLE)
POST = re.compile(rf"at://({_DID}|{_HANDLE})/{re.escape(POSTS)}/({_RKEY})")
_POST_PAGE = re.compile(rf"/profile/({_DID}|{_HANDLE})/post/({_RKEY})/?")
_SAID = re.compile(r"(?:at|https?)://[^\s<>\"“”]+", re.IGNORECASE)
_AFTER = ".,;:!?…'’\"”»*_`"  # what closes a sentence, not an address
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Address:
    """Something that can be read: `text` is its address; a `host` is asked for it, none for a file.

    A thread is asked for at a service that shows posts, which its address does not name.
    """

    sort: Sort
    text: str
    host: str = ""

    @property
    def is_local(self) -> bool:
        """Whether no network is needed for it."""
        return self.sort == "file"


def read_address(said: str, folder: Path | None = None) -> Address:
    """What somebody typed as an address: at://…, a web address, or a file's name. Raises AgentError.

    A file's name is looked for from `folder` on; the file itself is not opened.
    """
    text = said.strip()
    if not text or len(text) > LONGEST or not text.isprintable():
        raise AgentError(f"“{_short(text)}” is no address: it has to be of at most {LONGEST} letters. {UNTOUCHED}")
    scheme = text.partition("://")[0].casefold() if "://" in text else ""
    if scheme == "at":
        return _post(text)
    if scheme in ("http", "https"):
        return _page(text)
    if scheme:
        raise AgentError(f"{scheme}:// is nothing clew can read. {UNTOUCHED} There are at://, https:// and http://.")
    return _file(text.removeprefix("@"), folder or Path.cwd())


def addresses_in(text: str) -> Iterator[Address]:
    """The posts and pages that a message names, each once, in their order; what is broken is left out."""
    seen: set[str] = set()
    for match in _SAID.finditer(text):
        try:
            found = read_address(_bare(match[0][: 2 * LONGEST]))
        except AgentError:
            continue
        if found.text not in seen:
            seen.add(found.text)
            yield found


def named_own(host: str, port: int | None) -> str:
    """How a host of this machine or a private network stands in the setting; `port` None: the usual one."""
    shown = f"[{host}]" if ":" in host and port is not None else host
    return f"{OWN}{shown}" if port is None else f"{OWN}{shown}:{port}"


def _post(text: str) -> Address:
    match = POST.fullmatch("at://" + text[5:].split("#")[0].split("?")[0].rstrip("/"))
    if match is None:
        raise AgentError(
            f"“{_short(text)}” is no post. {UNTOUCHED} The address of a post is at://NAME/{POSTS}/KEY, or its page."
        )
    return Address("thread", _of_post(match[1], match[2]))


def _of_post(author: str, key: str) -> str:
    return f"at://{author if author.startswith('did:') else author.casefold()}/{POSTS}/{key}"


def _page(text: str) -> Address:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise AgentError(f"“{_short(text)}” is no web address: {error}. {UNTOUCHED}") from error
    if port == 0:
        raise AgentError(f"“{_short(text)}” is no web address: there is no port 0. {UNTOUCHED}")
    if parts.username is not None or parts.password is not None:
        raise AgentError(f"A web address with a name or a password in it is not kept. {UNTOUCHED} Leave them out.")
    host = _ascii(host, text)
    if host in WEB and (match := _POST_PAGE.fullmatch(parts.path)):
        return Address("thread", _of_post(match[1], match[2]))
    shown = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme.casefold()]
    netloc = shown if port in (None, usual) else f"{shown}:{port}"
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._[]|")
    whole = SplitResult(parts.scheme.casefold(), netloc, path, query, "").geturl()
    return Address("page", whole, host)


def _ascii(host: str, text: str) -> str:
    """A host as it is asked for: in ASCII, without a dot at its end."""
    host = host.rstrip(".")
    if ":" in host:
        return host.casefold()
    try:
        plain = host.encode("idna").decode("ascii").casefold() if not host.isascii() else host.casefold()
    except UnicodeError as error:
        raise AgentError(f"“{_short(text)}” names no host that can be asked. {UNTOUCHED}") from error
    if not plain or not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", plain):
        raise AgentError(f"“{_short(text)}” names no host that can be asked. {UNTOUCHED}")
    return plain


def _file(text: str, folder: Path) -> Address:
    try:
        path = (folder / Path(text.strip('"')).expanduser()).resolve()
        there = path.is_file()
    except (OSError, RuntimeError, ValueError):
        there = False
    if not there:
        raise AgentError(
            f"“{_short(text)}” is neither a file nor an address. {UNTOUCHED} An address begins with https:// or at://."
        )
    return Address("file", str(path))


def _bare(address: str) -> str:
    """An address as it stands in a sentence, without what closes that."""
    while address and (address[-1] in _AFTER or _is_open(address)):
        address = address[:-1]
    return address


def _is_open(address: str) -> bool:
    """Whether its last bracket closes none of its own."""
    last = address[-1]
    return last in _PAIRS and address.count(last) > address.count(_PAIRS[last])


def _short(text: str) -> str:
    clean = "".join(each if each.isprintable() else "�" for each in text[:60])
    return clean + ("…" if len(text) > 60 else "")
