"""The same few self-descriptions in German, French, Spanish, Italian, Portuguese and Dutch, each with its slot.

Few on purpose: name, home, origin, work, age, family and pets, allergies, what is liked and what is not. The rules are
data, a file for each language (german.toml …), which take a further pattern or language without any Python.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from graph.events import ObservationKind as Kind

Found = tuple[Kind, str | None]
# Questions, conditions, jokes and others' words, in any of them.
DOUBT = re.compile(
    r"[?¿？]|\b(?:wenn|falls|wäre|würde|hätte|vielleicht|könnte|scherz|spaß|angenommen"
    r"|sagt|sagte|glaube|dir|dich|du|sie sagte"
    r"|peut-être|serais|serait|aurais|voudrais|plaisante|blague|imaginons|dit|crois|toi"
    r"|vous|ojalá|quizás?|tal vez|sería|tendría|querría"
    r"|broma|imagina|dijo|dice|creo|te|usted|forse|sarei|fossi|avrei|vorrei|scherzo|immagina"
    r"|detto|dice|credo|talvez|seria|teria|fosse|brincadeira"
    r"|imagine|disse|acho|você|misschien|zou|als ik|stel|grapje|zegt|zei|denk|jij|jou)\b"
    r"|\bs['’]il|^(?:et |e |y )?s[ie] ",
    re.I,
)
LEAD = re.compile(
    r"(?:(?:hallo|hi|hey|also|ja|nein|übrigens|eigentlich|bonjour|salut|oui|non|au fait"
    r"|en fait|alors|hola|s[íi]|no|por cierto|bueno|en realidad"
    r"|pues|ciao|comunque|in realtà|allora|olá|oi|sim|não|aliás|na verdade|hoi|nou|nee"
    r"|trouwens|eigenlijk|merci|danke|gracias|grazie|obrigad[oa]|bedankt)"
    r"[ ]*[,!.:]\s*|(?:en fait|en realidad|in realtà|na verdade|de hecho|al final|entretanto|inzwischen"
    r"|mittlerweile) )",
    re.I,
)
A_NAME = r"(?-i:(?!Batman|Superman|Dios|Dio|Deus)[A-ZÀ-Þ][a-zà-ÿ]{2,})(?: (?-i:[A-ZÀ-Þ])[\w'’-]+)?(?=\W*$|,| [yei] ).*"
A_OR_NUMBER = r"(?:\w+|\d+)"
LANGUAGES = ("german", "french", "spanish", "italian", "portuguese", "dutch")  # in this order their rules are tried
FIRST = re.compile(
    r"(?:ich|wir|meine?|unsere?|nenn|man|jetzt|inzwischen|je|j['’]|mon|ma|nous|on|notre"
    r"|appelle|me|mi|yo|soy|tengo|vivo|trabajo|llámame|ahora|nos|no|ya|odio|toco|juego"
    r"|hablo|estoy|nací|crecí|vengo|tenemos|vivimos|adoro|prefiero|detesto|estudio|aprendo"
    r"|colecciono|io|sono|ho|abito|lavoro|faccio|il|la|ora|adesso|chiamami|non|amo|suono"
    r"|gioco|parlo"
    r"|abbiamo|viviamo|preferisco|studio|eu|moro|trabalho|tenho|sou|o|a|meu|minha|gosto"
    r"|não|chamo|odeio|falo|jogo|temos|estou|nasci|cresci|agora|ik|wij|we|mijn|onze|ons"
    r"|noem)\b",
    re.I,
)


@lru_cache(maxsize=256)
def foreign(text: str) -> tuple[Kind, str | None] | None:
    """The kind and slot of a self-description in one of the languages; None for all else."""
    bare = LEAD.sub("", NEWS.sub("", text.strip(), count=1), count=1).rstrip(".!。 ")
    if not FIRST.match(bare) or DOUBT.search(bare):
        return None
    for part in (bare, *AND.split(bare)[1:]):
        for kind, slot, pattern in _rules():
            if pattern.match(part):
                return kind, slot
    return None


def foreign_slots(text: str) -> frozenset[str]:
    """What has one value at a time of a text in one of the languages, also where it speaks of "the user"."""
    said = NEWS.sub("", text.strip(), count=1)
    match = OF_USER.match(said)
    if match is None:
        found = (foreign(part) for part in AND.split(said))
        return frozenset(each[1] for each in found if each and each[1])
    rest = said[match.end() :]
    return frozenset(slot for slot, pattern in _third() if pattern.match(rest))


AND = re.compile(rf"(?:,? (?:und|et|y|e|ed|en|ma|mais|pero|aber|maar|mas) |[,;] )(?={FIRST.pattern})", re.I)
NEWS = re.compile(
    r"(?:kleines? |petite? |pequeñ[ao] |piccol[ao] |pequen[ao] )?(?:update|korrektur|neuigkeiten?|nachtrag|correction"
    r"|nouvelle|corrección|noticia|correzione|novità|correção|novidade|correctie|nieuws|mise à jour|actualización"
    r"|aggiornamento|atualização)\s*[:,!]\s*|(?:sorry|entschuldigung|pardon|désolée?|perdón|perdona|scusa|desculpa)?"
    r"[, ]*(?:ich meinte|je voulais dire|quise decir|volevo dire|quis dizer|ik bedoelde)\s*[:,]?\s*",
    re.I,
)
OF_USER = re.compile(
    r"(?:(?:der|die) (?:be)?nutzer(?:in)?|l['’]utilisat(?:eur|rice)|(?:el|la) usuari[oa]|l['’]utente"
    r"|(?:o|a) (?:usuári[oa]|utilizador[a]?)|de gebruik(?:er|ster))\s+",
    re.I,
)
# The same in the third person, as a model writes it of "the user".
THIRD = (
    ("name", r"hei(?:ß|ss)t|s['’]appelle|se llama|si chiama|se chama|chama-se|heet"),
    (
        "residence",
        r"(?:wohnt|lebt|zog|habite|vit|vive|reside|abita|mora|woont|leeft)\b|ist (?:\w+ )*nach|a (?:dé|em)ménagé"
        r"|se (?:ha )?mud|si è trasferit|mudou-se|is (?:\w+ )*naar",
    ),
    ("employer", r"(?:arbeitet|werkt)\b.* bei\b|werkt\b.* bij\b|travaille\b.* chez\b|trabaja\b.* en (?-i:[A-Z])"),
    (
        "job",
        r"(?:arbeitet|werkt|travaille|trabaja|trabalha|lavora)\b|(?:ist|est|es|è|é|is) (?:une? |een |eine? |un[ao]? |um"
        r" )?\w*(?:lehrer|arzt|ärzt|ingenieur|schwester|pfleger|hebamme|student|infirmi|médecin|prof|ingéni|étudiant"
        r"|avocat|enfermer|médic|ingenier|estudiante|abogad|arquitect|infermier|medic|ingegner|avvocat|architett"
        r"|enfermeir|engenheir|advogad|verpleeg|leraar|lerares|kok)",
    ),
    ("hometown", r"(?:kommt|stammt) .*aus|vient de|est originaire|es de|viene de|è di|viene da|vem de|komt .*uit"),
    (
        "age",
        r"(?:ist|is|wird) \d+|(?:ist|is) \w+ (?:jahre|jaar)|a \w+(?:-\w+)* ans|tiene \w+.* años|ha \w+ anni"
        r"|tem .* anos",
    ),
    ("diet", r"(?:ist|est|es|è|é|is) .*(?:veg[ea]tari|végét|vegan|végan)"),
    (
        "marital",
        r"(?:ist|est|está|es|è|é|is) .*(?:verheiratet|geschieden|ledig|verlobt|mariée?|divorc|casad|solter"
        r"|sposat|getrouwd)",
    ),
)


@lru_cache(maxsize=1)
def _third() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((slot, re.compile(rf"(?:{pattern})", re.I)) for slot, pattern in THIRD)


@lru_cache(maxsize=1)
def _rules() -> tuple[tuple[Kind, str | None, re.Pattern[str]], ...]:
    """Read and compiled at the first foreign sentence, not at import."""
    return tuple(
        (kind, slot, re.compile(pattern, re.I)) for language in LANGUAGES for kind, slot, pattern in rules_of(language)
    )


def rules_of(language: str) -> Iterator[tuple[Kind, str | None, str]]:
    """The rules of one language's file: the kind and the slot of what is said, and the pattern of saying it."""
    with Path(__file__).with_name(f"{language}.toml").open("rb") as file:
        for rule in tomllib.load(file)["rule"]:
            yield Kind(rule["kind"]), rule.get("slot"), "|".join(rule["says"]).replace("{A_NAME}", A_NAME)
