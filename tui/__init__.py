"""People's side: the Textual app and the command line."""
