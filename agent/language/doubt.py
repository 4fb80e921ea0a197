"""What takes a sentence's word back: jokes, hypotheticals, fiction, tasks, injected orders, the words of others."""

import re

LAUGH = re.compile(
    r"\b(?:ha(?:ha)+h?|he(?:he)+|l+o+l+|lmf?ao|rofl|jaja+|kkk+)\b|[😂🤣😜😝😉🙃]|(?<!\w)[:;][-']?[PpD)](?!\w)", re.I
)
JOKE = re.compile(
    r"\b(?:ha(?:ha)+h?|he(?:he)+|l+o+l+|lmf?ao|rofl|jk|j/k|kidding|joking|joke[ds]?|sarcas\w+"
    r"|just messing|psych!|not!$|yeah right"
    r"|pulling your leg|teasing|in my dreams|or so (?:it|i)|as if|gotcha|april fools?|figuratively|metaphorically)\b"
    r"|[😂🤣😜😝🤪😉🙃]|(?<!\w)[:;][-']?[Pp)](?!\w)(?<!:\))(?<!:-\))|(?:^|\s)/s\b",
    re.I,
)
TAKEN_BACK = re.compile(
    r"^(?:(?:oh|ah|well|ok|hmm|sorry|oops),? )?(?:no,? wait|wait,? no|wait|scratch that"
    r"|strike that|scrap (?:that|it)|never ?mind|not really|nope\b"
    r"|not\W*$|no, (?:sorry|that|not)|sorry,? (?:no|i (?:mean|lied))|forget (?:that|it"
    r"|i said|what i)|ignore that|(?:i )?take (?:it|that) back"
    r"|i (?:lied|misspoke|was (?:lying|wrong|mistaken)|made that up|mean(?:t)?\b)|that(?:['’]s"
    r"| was| is) (?:not true|a lie|wrong"
    r"|incorrect|false|not right|just an? (?:example|test))|just (?:testing|an example)"
    r"|(?:this|it|that) (?:is|was) (?:only |just )?(?:a test|an example))",
    re.I,
)
MEANT = re.compile(
    r"^(?:(?:oh|ah|sorry|no|oops|wait|actually|i mean),? )*(?:i (?:meant?|mean)|make that|correction:?) ", re.I
)
FICTION = re.compile(
    r"\b(?:imagine|pretend\w*|suppose|supposing|let['’]?s (?:say|play|assume|pretend)"
    r"|say (?:that )?i (?:am|was|were)|role-?play\w*"
    r"|act as|hypothetically|in (?:this|my|the|a|that) (?:story|novel|book|game|dream"
    r"|scene|scenario|campaign|film|movie|play|poem|script|song)"
    r"|my character|once upon|(?:i|we) (?:dreamt|dreamed)|had (?:a|this) (?:weird |strange"
    r" )?dream|fictional|fiction|in character"
    r"|chapter \d|narrator|protagonist|for (?:my|a|the) (?:story|novel|screenplay|script"
    r"|campaign)|playing the role|you be)\b",
    re.I,
)
LATER_FICTION = re.compile(
    r"^\W*(?:(?:but )?(?:that|it|this)(?:['’]s| is| was)|just|only|from|(?:so )?(?:says"
    r"|said)) .{0,40}\b(?:novel|story|character|game|role"
    r"|song|lyrics?|film|movie|quote|example|test|joke|line|poem|play|book|dream|he|she|they|my \w+)\b",
    re.I,
)
GIVEN = re.compile(
    r"\b(?:(?<!\bi )(?<!\bwe )(?:translate|proofread|paraphrase|re-?phrase|rewrite|summari[sz]e)|translation of"
    r"|the following"
    r"|this (?:sentence|text|paragraph|email|essay"
    r"|message|letter|article|line|phrase)|these (?:sentences|lines)|correct (?:my|the)"
    r" grammar|fix (?:my|the) grammar|text below"
    r"|repeat after me|how do (?:i|you) say|sample (?:text|sentence)|example sentences?)\b"
    r"|^(?:please |now |just |can you )?(?:say|repeat"
    r"|type|print|echo|output|reply with|respond with|answer with)\b|^(?:here(?:['’]s"
    r"| is)|this is) (?:what|the|a|an|my) [^.]{0,30}\b(?:wrote|said"
    r"|texted|sent|posted|essay|letter|email|message|bio|review|draft|text|poem|song|lyrics)\b",
    re.I,
)
WRITE = re.compile(
    r"^(?:please |now |can you |could you )?(?:write|compose|draft|generate|create|complete"
    r"|continue|finish|make|send|add|put|note)\b[^.:]*:"
    r"|(?!.{0,40}\b(?:i (?:mean|meant)|wrong|nonsense)\b)\b(?:wrote|texted|emailed|messaged|posted|answered"
    r"|replied|says|said|told me|goes"
    r"|reads|states?|lyrics?|quote|prompt|input|text|sentence)[^.:]{0,30}:(?![-']?[)(DPp])",
    re.I,
)
INJECTED = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all|any|every|the|your|my|these|those|previous"
    r"|prior|above|everything)\b[^.]{0,40}\b(?:instructions?|rules?|prompts?|above"
    r"|before|messages?|guidelines|training)\b|system prompt|developer mode|jailbr\w+"
    r"|you (?:must|shall|will|should) (?:now |from now on )?(?:always|never|obey"
    r"|answer|respond|reply|act|only|say|believe|treat)|you are now|from now on,? you"
    r"|new instructions?|\bobey\b|<\|[^>]{0,30}\|>|\[/?INST\]|"
    r"^[^\S\n]*#{2,}\s*(?:system|instructions?)|^[^\S\n]*(?:system|assistant|developer)\s*:|(?:store"
    r"|save|write|add|record|put|insert) (?:this |that |it |the following )?"
    r"(?:in|to|into) (?:your )?(?:long-term )?memory\b|must (?:always|never) \w+ (?:me|my|the)\b|reveal your",
    re.I | re.M,
)


def injected(text: str) -> bool:
    """Whether a turn gives the program orders about itself: then nothing in it is believed."""
    return INJECTED.search(text) is not None


def withdrawn(following: str) -> bool:
    """Whether what is said next takes back what was said."""
    if MEANT.match(following):
        return False  # what was meant is told with it
    return bool(JOKE.search(following) or TAKEN_BACK.match(following) or LATER_FICTION.match(following))
