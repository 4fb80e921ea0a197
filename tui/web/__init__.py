"""`clew web`: the chat in a browser on this machine."""
