"""The same screen in a browser, served on the loopback address only."""
