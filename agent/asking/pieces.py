"""Pieces that the ready queries and the templates are made of, so that all mean the same by "live" and "about"."""

LIVE = "t.live AND t.world = $world AND t.role <> 'tool' AND t.text IS NOT NULL"
CURRENT = "o.current AND o.world = $world AND o.text IS NOT NULL"
CHAT = "coalesce(s.name, s.title, s.id)"
NAMED = "coalesce(e.name, e.id)"
PATH = """\
MATCH p = (a:Entity)-[:MENTIONS|ABOUT|DERIVED_FROM|SUPPORTED_BY|REPLIES_TO* ALL SHORTEST 1..8 (r, n |
  WHERE (n.live OR n.live IS NULL) AND (n.world = $world OR n.world IS NULL))]-(b:Entity)
WHERE lower(coalesce(a.name, a.id)) = lower($one) AND lower(coalesce(b.name, b.id)) = lower($other)
RETURN p AS path, length(p) AS steps LIMIT 3"""


_WORDS = r"regexp_replace(lower({}), '[^\\pL\\pN]+', ' ', 'g')"  # with one blank between words, and no signs
_WANTED = f"trim({_WORDS.format('$what')})"


def _whole(text: str) -> str:
    """A text as `_are_in` takes it: in small letters, a blank before and after each word. 5 µs; a regex takes 25."""
    return f"concat(' ', {_WORDS.format(text)}, ' ')"


def _are_in(words: str, wanted: str = _WANTED) -> str:
    """Whether the words of $what stand in a text one after the other, also in the plural."""
    return "\n  OR ".join(f"{words} CONTAINS concat(' ', {wanted}, '{end} ')" for end in ("", "s", "es"))


def turns_about(*also: str, joined: str = "", carried: str = "t") -> str:
    """Live turns that have $what as whole words; the engine looks at what follows WITH after the rest."""
    conditions = "\n  AND ".join((LIVE, *also, "lower(t.text) CONTAINS lower($what)"))
    words = f"WITH {carried}, {_whole('t.text')} AS words,\n  {_WANTED} AS wanted"
    return f"MATCH (t:Turn){joined}\nWHERE {conditions}\n{words}\nWHERE {_are_in('words', 'wanted')}"


def memories_about(*also: str) -> str:
    """Current observations that have $what as whole words, or are about somebody or something of that name."""
    conditions = "\n  AND ".join((CURRENT, *also))
    named = f"EXISTS {{ MATCH (o)-[:ABOUT]->(e:Entity) WHERE {_are_in(_whole(NAMED))} }}"
    return f"MATCH (o:Observation)\nWHERE {conditions}\n  AND ({_are_in(_whole('o.text'))}\n  OR {named})"
