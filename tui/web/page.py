"""The page and who may see it: a browser on this machine that was given the address; nothing comes from elsewhere.

Other users of the machine do not know the token. Other pages in the same browser do not get the cookie, which is of a
path that nobody else knows; their requests name another Origin. A foreign name that leads to this machine (DNS
rebinding) is another Host. The page itself may load nothing from elsewhere, which the browser sees to.
"""

import secrets
from hmac import compare_digest
from string import Template

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

TOKEN = "token"
ASK = "Open the address printed by `clew web`, including its token, to use clew in this browser.\n"
ELSEWHERE = "This is not clew's address. Open the one printed by `clew web`.\n"


class Guard:
    """The secrets of one run, and the check of every request; `port` is where it listens."""

    def __init__(self, port: int) -> None:
        self._hosts = frozenset(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))
        self._token = secrets.token_urlsafe(24)
        self._key = secrets.token_urlsafe(24)
        self._cookie = f"clew-{port}"
        self.place = f"/{secrets.token_urlsafe(12)}/"
        self.address = f"http://127.0.0.1:{port}/?{TOKEN}={self._token}"

    @property
    def middleware(self) -> Middleware:
        """The check, as aiohttp has it."""

        @web.middleware
        async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
            self._require(request)
            if request.path == "/":
                return self._enter(request)
            return await handler(request)

        return check

    async def protect(self, request: web.Request, response: web.StreamResponse) -> None:
        """What every answer says to the browser: load nothing from elsewhere, be in no frame, tell nobody."""
        host = _host(request)
        socket = f" ws://{host}" if host in self._hosts else ""
        response.headers.update(
            {
                "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                f"font-src 'self'; img-src 'self' data: blob:; connect-src 'self'{socket}; "
                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                "Cross-Origin-Opener-Policy": "same-origin",
                "Cross-Origin-Resource-Policy": "same-origin",
                "Referrer-Policy": "no-referrer",
                "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY",
                "Cache-Control": "no-store",
            }
        )

    def _require(self, request: web.Request) -> None:
        """Raise HTTPForbidden or HTTPNotFound unless a request may be answered."""
        host = _host(request)
        if host not in self._hosts:
            raise web.HTTPForbidden(text=ELSEWHERE)
        origin = request.headers.get("Origin")
        by_page = request.headers.get("Upgrade") is not None  # browsers name the page that opens a websocket
        if (origin is not None or by_page) and origin != f"http://{host}":
            raise web.HTTPForbidden(text=ELSEWHERE)
        if request.path == "/":
            return
        if not request.path.startswith(self.place):
            raise web.HTTPNotFound(text=ELSEWHERE)
        if not _same(request.cookies.get(self._cookie, ""), self._key):
            raise web.HTTPForbidden(text=ASK)

    def _enter(self, request: web.Request) -> web.Response:
        """The token is given for the cookie, and leaves the address."""
        if not _same(request.query.get(TOKEN, ""), self._token):
            raise web.HTTPForbidden(text=ASK)
        entered = web.Response(status=303, headers={"Location": self.place})
        entered.set_cookie(self._cookie, self._key, path=self.place, httponly=True, samesite="Lax")
        return entered


def _host(request: web.Request) -> str:
    """Who was asked for; without a header `request.host` would ask the network for the name of this machine."""
    return request.headers.get("Host", "")


def _same(given: str, secret: str) -> bool:
    """Whether a secret was given, whatever bytes came in its place."""
    return compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())


PAGE = Template("""<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>clew</title>
    <link rel="icon" href="data:," />
    <link rel="preload" href="static/fonts/RobotoMono-VariableFont_wght.ttf" as="font" type="font/ttf" crossorigin />
    <link rel="stylesheet" href="static/css/xterm.css" />
    <style>
      @font-face {
        font-family: "Roboto Mono";
        src: url("static/fonts/RobotoMono-VariableFont_wght.ttf") format("truetype");
        font-weight: 100 700;
      }
      @font-face {
        font-family: "Roboto Mono";
        src: url("static/fonts/RobotoMono-Italic-VariableFont_wght.ttf") format("truetype");
        font-weight: 100 700;
        font-style: italic;
      }
      html,
      body {
        margin: 0;
        height: 100%;
        overflow: hidden;
        background: #121212;
        color: #e0e0e0;
        font-family: "Roboto Mono", Monaco, "Courier New", monospace;
      }
      #terminal {
        width: 100vw;
        height: 100vh;
        opacity: 0;
      }
      body.-first-byte #terminal {
        opacity: 1;
      }
      #opening,
      #ended {
        position: absolute;
        left: 0;
        right: 0;
        padding: 1em;
        z-index: 10;
        text-align: center;
      }
      #opening {
        top: 40%;
      }
      body.-first-byte #opening,
      body.-closed #opening {
        display: none;
      }
      #ended {
        display: none;
        bottom: 0;
        background: #2a2a2a;
      }
      body.-closed #ended {
        display: block;
      }
      a {
        color: #ffd166;
      }
      #start {
        display: none;
      }
    </style>
    <script src="static/js/textual.js"></script>
    <script src="focus.js"></script>
  </head>
  <body>
    <div id="opening">clew is opening …</div>
    <div id="ended">This chat is closed; everything said in it is kept. <a href="./">Open clew again</a></div>
    <div id="start"></div>
    <div
      id="terminal"
      class="textual-terminal"
      data-session-websocket-url="$websocket"
      data-font-size="$font_size"
    ></div>
  </body>
</html>
""")

FOCUS = """// What is typed is for the terminal from the start: without a click, and again after one beside it.
const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
window.addEventListener("load", focus);
window.addEventListener("focus", focus);
"""
