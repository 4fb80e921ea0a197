"""Words as the extractor compares them: folded, cut to a common stem, numbers either way, one way everywhere.

Everything is linear in the text, and takes any text: other scripts, lone marks, ten thousand words.
"""

import re
import unicodedata

from agent.kept import kept
from graph.whole_words import STOP_WORDS


def wordset(words: str) -> frozenset[str]:
    """Words, written with spaces between them, as a set."""
    return frozenset(words.split())


STOP = wordset(STOP_WORDS) | wordset(
    "i me my mine we us our ours you your he him his she her hers it its they them their"
    " theirs a an the and or but so"
    " of to in on at by for from with as is am are was were be been being do does did"
    " have has had will would can could"
    " should may might must not no nor this that these those there here than then too very just also about into"
)
UNIT_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
TEN_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
ORDINAL_NAMES = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
TENS = TEN_NAMES.split()
PAIRS = {"both": "2", "twice": "2", "pair": "2", "couple": "2", "twins": "2", "dozen": "12", "hundred": "100"}
NUMBERS = (
    {word: str(at) for at, word in enumerate(UNIT_NAMES.split())}
    | {word: str(20 + 10 * at) for at, word in enumerate(TENS)}
    | {word: str(at) for at, word in enumerate(ORDINAL_NAMES.split(), start=1)}
    | PAIRS
)
NEGATORS = wordset(
    "not no never none nobody nothing without cannot cant dont doesnt didnt isnt arent wasnt werent wont havent hasnt"
    " hadnt couldnt shouldnt wouldnt neither nor aint stopped quit former formerly ex nicht kein keine keinen nie pas"
    " jamais nunca nao não non mai niet geen nooit"
)
MONTH_NAMES = "january february march april may june july august september october november december"
MONTHS = {name: str(at) for at, word in enumerate(MONTH_NAMES.split(" "), start=1) for name in (word, word[:3])}
WHOLE = {"can't": "can", "won't": "will", "shan't": "shall", "ain't": "is"}  # of what stands before "n't"
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
EVENING = re.compile(r"\b(\d{1,2})(?:[:.]\d\d)? ?p\.?m\b")
DIGITS = re.compile(r"\d+")


def fold(text: str) -> str:
    """The text without case, accents and kinds of apostrophe."""
    plain = unicodedata.normalize("NFKD", text.replace("’", "'").replace("ʼ", "'"))
    return "".join(char for char in plain if not unicodedata.combining(char)).casefold()


def tokens(text: str) -> list[str]:
    """The folded words of a text, in order; `n't` is a word of its own, and a possessive `'s` is none."""
    found: list[str] = []
    for word in WORD.findall(fold(text)):
        if word.endswith("n't"):
            found += [WHOLE.get(word, word[:-3]), "not"]
        else:
            found += [part for part in word.split("'") if part not in ("s", "m", "re", "ve", "ll", "d")]
    return [word for word in found if word]


@kept(4096)
def stem(word: str) -> str:
    """A folded English word without its commonest endings; other words pass nearly as they are."""
    for ending, least in (("ies", 3), ("ing", 3), ("ed", 3), ("es", 4), ("s", 3), ("ly", 4)):
        if ending == "es" and word.endswith("ees"):
            continue  # "coffees"
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            word = word[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


def tells(word: str) -> bool:
    """Whether a folded word says something by itself."""
    return word not in STOP and (len(word) > 1 or not word.isascii())


def content(text: str) -> list[str]:
    """The stems of the words that say something, once each, in order; numbers are left to `numbers`."""
    words = (word for word in tokens(text) if tells(word) and word not in NUMBERS and not DIGITS.search(word))
    stems = (stem(word) for word in words if word not in NEGATORS)
    return list(dict.fromkeys(each for each in stems if tells(each)))  # "uses" says no more than "use"


def numbers(text: str) -> set[str]:
    """The numbers of a text as digits, whichever way they are written: "two", "2nd", "twenty-one", "1,000"."""
    plain = re.sub(r"(?<=\d)[,.](?=\d{3}\b)", "", fold(text))
    found = {(digits.lstrip("0") or "0") for digits in DIGITS.findall(plain)}
    found |= {str(int(hour) % 12 + 12) for hour in EVENING.findall(plain)}
    before = ""
    for word in WORD.findall(plain):
        if word in NUMBERS:
            found.add(NUMBERS[word])
            if before in TENS and len(NUMBERS[word]) == 1:
                found.add(str(int(NUMBERS[before]) + int(NUMBERS[word])))
        before = word
    return found
