"""Pieces that the ready queries and the templates are made of, so that all mean the same by "live" and "about"."""

LIVE = "t.live AND t.world = $world AND t.role <> 'tool' AND t.text IS NOT NULL"
CURRENT = "o.current AND o.world = $world AND o.text IS NOT NULL"
CHAT = "coalesce(s.name, s.title, s.id)"
NAMED = "coalesce(e.name, e.id)"
PATH = """\
WITH $world AS world
MATCH p = (a:Entity)-[:MENTIONS|ABOUT|DERIVED_FROM|SUPPORTED_BY|REPLIES_TO* ALL SHORTEST 1..8]-(b:Entity)
WHERE lower(coalesce(a.name, a.id)) = lower($one) AND lower(coalesce(b.name, b.id)) = lower($other)
  AND all(n IN nodes(p) WHERE coalesce(n.live, true) = true AND coalesce(n.world, world) = world)
RETURN p AS path, length(p) AS steps LIMIT 3"""


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


def turns_about(*also: str, joined: str = "", carried: str = "t") -> str:
    """Live turns that have $what as whole words; the engine looks at what follows WITH after the rest."""
    near = "(lower(t.text) CONTAINS lower($what) OR lower(t.text) CONTAINS one)"
    conditions = "\n  AND ".join((LIVE, *also, near))
    words = f"WITH {carried}, {_whole('t.text')} AS words, wanted, one"
    return f"{_ASKED}\nMATCH (t:Turn){joined}\nWHERE {conditions}\n{words}\nWHERE {_are_in('words')}"


def memories_about(*also: str) -> str:
    """Current observations that have $what as whole words, or are about somebody or something of that name."""
    conditions = "\n  AND ".join((CURRENT, *also))
    named = f"EXISTS {{ MATCH (o)-[:ABOUT]->(e:Entity) WHERE {_are_in(_whole(NAMED))} }}"
    words = f"WITH o, {_whole('o.text')} AS words, wanted, one"
    return f"{_ASKED}\nMATCH (o:Observation)\nWHERE {conditions}\n{words}\nWHERE {_are_in('words')}\n  OR {named}"
