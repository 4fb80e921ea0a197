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
WAS = re.compile(r"\bI((?: \w+ly| also| never| always| once| just| still)?) was\b", re.IGNORECASE)
WORD = re.compile(r"\b(?:i(?:['’](?:m|ve|d|ll))?|me|my|mine|myself|(?<!\d )(?<!\d)am)\b(?!\.\w)", re.IGNORECASE)
SAID = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are"}
SAID |= {"i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll"}


def as_you(text: str) -> str | None:
    """A sentence of somebody's about themselves, as it is told to them; None where that is not sure.

    Only English is turned.
    """
    if not FIRST.search(text) or UNSURE.search(text) or FOREIGN.search(text) or QUOTED.search(text):
        return None
    turned = WORD.sub(lambda met: SAID[met[0].replace("’", "'").lower()], WAS.sub(r"you\1 were", text))
    return turned[:1].upper() + turned[1:]


def of_oneself(text: str) -> str:
    """The sentences of a turn that somebody surely says about themselves, as they said them."""
    return " ".join(each.text for each in sentences(text) if each.own and as_you(each.text))
