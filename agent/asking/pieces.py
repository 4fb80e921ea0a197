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


def has_word(text: str, name: str = "what") -> str:
    """Whether a text may have a word or words, in any case: quick, and true of parts of words as well."""
    return f"lower({text}) CONTAINS lower(${name})"


def whole_word(text: str, name: str = "what") -> str:
    """Whether it has them as whole words, or in the plural: 20 µs each, so only for what `has_word` is true of."""
    return rf"regexp_matches(lower({text}), '(^|\\W)\\Q' + lower(${name}) + '\\E(s|es)?(\\W|$)')"


def turns_about(*also: str, joined: str = "", carried: str = "t") -> str:
    """Live turns that have $what as whole words; the engine looks at `WITH … WHERE` after the rest."""
    conditions = " AND ".join((LIVE, *also, has_word("t.text")))
    return f"MATCH (t:Turn){joined}\nWHERE {conditions}\nWITH {carried} WHERE {whole_word('t.text')}"


def memories_about(*also: str) -> str:
    """Current observations that have $what as whole words, or are about somebody or something of that name."""
    conditions = " AND ".join((CURRENT, *also))
    named = f"EXISTS {{ MATCH (o)-[:ABOUT]->(e:Entity) WHERE {whole_word(NAMED)} }}"
    return f"MATCH (o:Observation)\nWHERE {conditions}\n  AND ({whole_word('o.text')} OR {named})"
