"""What somebody said of themselves, turned to the one who said it: "I feed my cat" is "You feed your cat" to them."""

import re

from agent.language.sentences import QUOTED, sentences

FIRST = re.compile(r"\b(?:I|my|mine|myself|i(?= [a-z]+ )|i['’](?:m|ve|d|ll))\b|\bM(?:y|ine)\b")
# Who also speaks to somebody, asks, quotes or says "we" may mean anybody by it.
UNSURE = re.compile(r"\b(?:you(?:r|rs|rself|rselves)?|we|us|ours?|ourselves|let's)\b|[?`\"“”„«»\n]", re.IGNORECASE)
FOREIGN = re.compile(
    r"\b(?:ich|mein\w*|ist|und|der|das|ein|eine|nicht|je|mon|mes|est|les|une|des|pas|que|el|los|las|mi|mis|tengo|una"
    r"|il|gli|che|sono|miei|mie|mia|ho|di|eu|meu|minha|meus|um|uma|os|ik|mijn|het|een)\b",
    re.IGNORECASE,
)
# What looks like "I", "me", "mine" or "am" and may be a number ("Type I"), a name ("ME"), a thing ("a coal mine"), an
# hour ("six AM") or a word of another language; after a colon anybody may be quoted.
NOBODY = re.compile(
    r"(?<=[a-z] )[A-Z]\w* I\b(?!['’])|\bI(?= [A-Z])|\bI[/.&-]|[/&-]I\b|\b(?:ME|AM|MY|Am)\b"
    r"|(?<=[\w,] )(?:Me|My|Mine|Myself)\b|:(?!\d)|\b(?:password|passphrase|motto|tattoo)\b"
    r"|\b(?<!\d)(?<!\d )(?<!\b[Ii] )(?<!ly )(?<!also )am\b|\b(?!is\b|are\b|was\b|were\b|of\b|and\b)[a-z]+ mine\b",
)
# A small "i" is a word of many languages: only before one of these it is the English one.
SMALL = re.compile(
    r"\bi\b(?!['’]| (?:am|was|have|had|live|work|like|love|hate|feed|do|did|don['’]?t|feel|need|want|can|could|would"
    r"|will|moved|bought|got|go|went|think|know|used|usually|never|always|also|just|still|prefer|drink|eat|play|study|take"
    r"|started|speak|drive|own|keep|collect|teach|run|read|met|made|lost|grew|should)\b)"
)
# What a sentence that wants something begins with, and what may stand before that. It speaks to somebody without "you".
LEAD = r"\s*(?:(?:ok|okay|so|and|now|then|hi|hey|please|just|also|can you|could you|would you|will you)[\s,]+)*"
ORDERS = (
    "tell|give|show|write|explain|list|describe|summari[sz]e|translate|make|help|find|suggest|recommend|name|compare|draw"
    "|create|continue|repeat|rewrite|think|imagine"
)
ORDERED = re.compile(
    rf"(?:^|[.!;…]){LEAD}(?:{ORDERS}|proofread|rephrase|paraphrase|calculate|convert|draft|compose|correct|check|fix"
    r"|remember|(?:remind|call|send|teach|let|wish|get|ask|believe|trust|excuse|forgive) me)\b",
    re.IGNORECASE,
)
# Who is greeted, or asked to remember it, is not told that.
SPOKEN_TO = re.compile(
    r"^(?:(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| again| clew)?[\s,.!]+"
    r"|(?:please,? )?remember (?:that |(?=I)))(?=(?:I|my)\b)",
    re.IGNORECASE,
)
WAS = re.compile(r"\bI((?: \w+ly| also| never| always| once| just| still)?) was(n['’]t)?\b", re.IGNORECASE)
WORD = re.compile(r"\b(?:[Ii](?:['’](?:m|ve|d|ll))?|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|(?<!\d )(?<!\d)am)\b(?!\.\w)")
SAID = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are"}
SAID |= {"i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll"}


def as_you(text: str) -> str | None:
    """A sentence of somebody's about themselves, as it is told to them; None where that is not sure.

    Only English is turned.
    """
    text = SPOKEN_TO.sub("", text)
    if not FIRST.search(text) or UNSURE.search(text) or FOREIGN.search(text) or QUOTED.search(text):
        return None
    if NOBODY.search(text) or SMALL.search(text) or ORDERED.search(text):
        return None
    were = WAS.sub(lambda met: f"you{met[1]} were{met[2] or ''}", text)
    turned = WORD.sub(lambda met: SAID[met[0].replace("’", "'").lower()], were)
    return turned[:1].upper() + turned[1:]


def of_oneself(text: str) -> str:
    """The sentences of a turn that somebody surely says about themselves, as they said them."""
    return " ".join(each.text for each in sentences(text) if each.own and as_you(each.text))
