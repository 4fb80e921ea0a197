"""Pieces that the ready queries are made of, so that all mean the same by "live" and "about"."""

_WORDS = r"regexp_replace(lower({}), '[^\\pL\\pN]+', ' ', 'g')"  # with one blank between words, and no signs
_WANTED = f"trim({_WORDS.format('$what')})"

# Of several one: cities, boxes, boats; but not of news, this or bus.
_SINGULARS = ((r"(\\pL)ies$", r"\\1y"), ("(x|z|ch|sh|ss)es$", r"\\1"), (r"(\\pL[^siuw]|[^e]w)s$", r"\\1"))


def _one(words: str) -> str:
    """The words with the last of them in the singular, as far as its end tells."""
    for several, one in _SINGULARS:
        words = f"regexp_replace({words}, '{several}', '{one}')"
    return words


def _whole(text: str) -> str:
    """A text as `_are_in` takes it: in small letters, a blank before and after each word. 5 µs; a regex takes 25."""
    return f"concat(' ', {_WORDS.format(text)}, ' ')"


# The words of $what, worked out once, and the same in the singular.
_ASKED = f"WITH {_WANTED} AS wanted\nWITH wanted, {_one('wanted')} AS one"


def _are_in(words: str) -> str:
    """Whether the words of $what stand in a text one after the other, be the last of them one or several."""
    forms = [f"{words} CONTAINS concat(' ', {form}, '{end} ')" for form in ("wanted", "one") for end in ("", "s", "es")]
    return "\n  OR ".join(forms)


def _turns_about(*, joined: str = "", carried: str = "t") -> str:
    """Live turns that have $what as whole words; the engine looks at what follows WITH after the rest."""
    near = "(lower(t.text) CONTAINS lower($what) OR lower(t.text) CONTAINS one)"
    words = f"WITH {carried}, {_whole('t.text')} AS words, wanted, one"
    turns = f"MATCH (t:Turn){joined}\nWHERE {{live}}{{by}}{{time}}\n  AND {near}"
    return f"{_ASKED}\n{turns}\n{words}\nWHERE {_are_in('words')}"


PIECES = {
    "live": "t.live AND t.world = $world AND t.role <> 'tool' AND t.text IS NOT NULL",
    "current": "o.current AND o.world = $world AND o.text IS NOT NULL",
    "chat": "coalesce(s.name, s.title, s.id)",
    "turns_about": _turns_about(),
    "chats_about": _turns_about(joined="-[:IN_SESSION]->(s:Session)", carried="t, s"),
    # Current observations that have $what as whole words, or are about somebody or something of that name.
    "memories_about": (
        f"{_ASKED}\nMATCH (o:Observation)\nWHERE {{current}}{{time}}\n"
        f"WITH o, {_whole('o.text')} AS words, wanted, one\nWHERE {_are_in('words')}\n"
        f"  OR EXISTS {{ MATCH (o)-[:ABOUT]->(e:Entity) WHERE {_are_in(_whole('coalesce(e.name, e.id)'))} }}"
    ),
    "path": """\
WITH $world AS world
MATCH p = (a:Entity)-[:MENTIONS|ABOUT|DERIVED_FROM|SUPPORTED_BY|REPLIES_TO* ALL SHORTEST 1..8]-(b:Entity)
WHERE lower(coalesce(a.name, a.id)) = lower($one) AND lower(coalesce(b.name, b.id)) = lower($other)
  AND all(n IN nodes(p) WHERE coalesce(n.live, true) = true AND coalesce(n.world, world) = world)
RETURN p AS path, length(p) AS steps LIMIT 3""",
}
