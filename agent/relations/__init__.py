"""How people, places and things stand to each other: told by hand, or found in what people say."""
