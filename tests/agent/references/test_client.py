"""What is fetched, within which bounds, and from whom: against a server that lies, stalls and leads elsewhere.

What else it may send or answer, and what is told of that, is tried through chats in test_sources.py.
"""

import asyncio

import pytest

from agent.errors import HostUnknown, Unreadable
from agent.references.client import Busy, Fetched, NotGiven, Version, WebClient, is_own
from tests.agent.references.web import Asked, Web, head

MOST = 1 << 20


def reading(web: Web, *, whole_s: float = 20.0) -> WebClient:
    return WebClient(lambda host, own, port: True, most_bytes=MOST, whole_s=whole_s, resolve=web.resolve)


async def get(web: Web, path: str, host: str = "127.0.0.1", **more: float) -> Fetched:
    client = reading(web, **more)
    try:
        found = await client.get(web.url(path, host))
    finally:
        await client.close()
    assert found is not None
    return found


@pytest.mark.parametrize("packed", [False, True])
async def test_a_page_comes_as_it_was_sent(web: Web, packed: bool) -> None:
    web.put("/a?b=c", "<p>Tide</p>" * 1000, "Text/HTML; Charset=ISO-8859-1", packed=packed, ETag='"one"')
    found = await get(web, "/a?b=c")
    assert found.body == b"<p>Tide</p>" * 1000
    assert (found.kind, found.charset, found.version) == ("text/html", "ISO-8859-1", Version('"one"'))
    assert (found.url, found.hops) == (web.url("/a?b=c"), ())
    sent = web.asked[0].headers
    assert sent["host"] == f"127.0.0.1:{web.port}"
    assert not {"cookie", "authorization", "referer"} & sent.keys()


async def test_what_is_known_is_not_sent_again(web: Web) -> None:
    web.put("/", "x", ETag='"one"')
    client = reading(web)
    first = await client.get(web.url("/"))
    assert first is not None
    assert await client.get(web.url("/"), known=first.version) is None
    web.put("/", "y", ETag='"two"')
    again = await client.get(web.url("/"), known=first.version)
    assert again is not None
    assert again.body == b"y"
    await client.close()


async def test_no_cookie_comes_back(web: Web) -> None:
    web.put("/", "x", Set_Cookie="who=you")
    client = reading(web)
    for _ in range(2):
        await client.get(web.url("/"))
    await client.close()
    assert "cookie" not in web.asked[1].headers


async def test_redirects_are_followed_and_told(web: Web) -> None:
    web.hosts |= {"example.test": ["127.0.0.1"], "www.example.test": ["127.0.0.1"]}
    web.move("/old", "new", 301)
    web.move("/new", web.url("/there", "www.example.test"), 308)
    web.put("/there", "x")
    found = await get(web, "/old", "example.test")
    assert found.hops == (web.url("/new", "example.test"), web.url("/there", "www.example.test"))
    assert found.url == found.hops[-1]


@pytest.mark.parametrize("to", ["gopher://example.test/", "http://user:word@127.0.0.1/", "//[::1"])
async def test_a_redirect_that_leads_nowhere_is_told(web: Web, to: str) -> None:
    web.move("/", to)
    with pytest.raises(Unreadable, match="leads to what is no web address") as told:
        await get(web, "/")
    assert "word" not in str(told.value)


async def test_a_host_is_asked_only_if_it_may_be(web: Web) -> None:
    web.hosts |= {"example.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
    web.put("/", "x")
    web.move("/away", web.url("/", "other.test"))
    allowed: dict[str, bool] = {}
    client = WebClient(
        lambda host, own, port: allowed.get(host) in ((True,) if own else (True, False)), resolve=web.resolve
    )
    with pytest.raises(HostUnknown) as told:
        await client.get(web.url("/", "example.test"))
    assert (told.value.host, told.value.own) == ("example.test", False)
    allowed["example.test"] = False  # as one of the web, which it is not
    with pytest.raises(HostUnknown) as told:
        await client.get(web.url("/", "example.test"))
    assert told.value.own
    assert "private network" in str(told.value)
    assert web.asked == []
    allowed["example.test"] = True
    assert await client.get(web.url("/", "example.test")) is not None
    with pytest.raises(HostUnknown) as told:
        await client.get(web.url("/away", "example.test"))
    assert told.value.host == "other.test"
    assert web.count("/") == 1
    await client.close()


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True), ("10.1.2.3", True), ("192.168.0.1", True), ("172.16.9.9", True), ("169.254.169.254", True),
        ("0.0.0.0", True), ("100.64.0.1", True), ("224.0.0.1", True), ("::1", True), ("fe80::1", True),
        ("fd00::1", True),
        ("::ffff:127.0.0.1", True), ("64:ff9b::7f00:1", True), ("2002:7f00:1::", True), ("93.184.216.34", False),
        ("2606:2800:220:1:248:1893:25c8:1946", False), ("64:ff9b::5db8:d822", False),
        ("64:ff9b:1::7f00:1", True), ("fec0::1", True), ("::127.0.0.1", True), ("::", True),
    ],
)  # fmt: skip
def test_addresses_of_this_machine_and_of_private_networks_are_known(address: str, own: bool) -> None:
    assert is_own(address) is own


GONE, HIDDEN, ILL = "has nothing at that address any more", "does not show that to clew", "is busy or broken"
STATUSES = {404: GONE, 410: GONE, 401: HIDDEN, 403: HIDDEN, 451: HIDDEN, 429: ILL, 500: ILL, 503: ILL}


async def test_a_status_becomes_a_sentence_which_tells_when_to_ask_again(web: Web) -> None:
    for status in (*STATUSES, 204, 418):
        web.put(f"/{status}", "no", status=status, Retry_After="120")
        why = STATUSES.get(status, f"answered with {status}")
        with pytest.raises(Unreadable, match=why) as told:
            await get(web, f"/{status}")
        assert "The chat goes on without it." in str(told.value)
        assert isinstance(told.value, Busy) is (why == ILL), status
        assert getattr(told.value, "after_s", 120) == 120
    assert type(told.value) is NotGiven


async def test_what_is_too_large_is_not_read_on(web: Web) -> None:
    sent = 0

    async def endless(asked: Asked, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(head(200, {"Content-Type": "text/html"}))
        while not web.over.is_set():
            writer.write(b"tide " * 10_000)
            await writer.drain()
            sent += 50_000

    web.answers["/"] = endless
    with pytest.raises(Unreadable, match="sends more than 1 MB"):
        await get(web, "/")
    assert sent < 8 * MOST


async def test_who_is_silent_is_not_waited_for(web: Web) -> None:
    async def silent(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await web.over.wait()

    web.answers["/"] = silent
    with pytest.raises(Busy, match="took longer than"):
        await get(web, "/", whole_s=0.2)


async def test_nobody_there_is_told(web: Web) -> None:
    with pytest.raises(Busy, match="offline, or there is no such host"):
        await get(web, "/", "nowhere.test")
    web.port = 9  # where nothing listens
    with pytest.raises(Busy, match="cannot be read"):
        await get(web, "/")
