"""The page: a terminal over the whole window, drawn by textual-serve's script, and nothing from elsewhere."""

from string import Template

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
