"""The screens of stories: beginning one, its cast, a character card, and who saw a message."""
