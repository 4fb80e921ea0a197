"""One Agent behind every face: in its own process (server.py), asked over a socket by clients that are as it is."""
