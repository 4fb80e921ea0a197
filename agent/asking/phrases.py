"""The common questions as people put them: what each asks for, and the patterns that tell it.

A pattern must fit the whole question, without its time: what is only like one of these is none of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_I = (
    r"(?:(?:have|had|did|do|was|were|am|are) )?(?P<by>i|we|you)(?: (?:have|had|was|were|am|are))?(?: been)?"
    r"(?: (?:ever|already|just|usually|often|keep|kept))?"
)
_ABOUT = (
    r"(?:mention(?:ed|ing)?|named?|br(?:ing|ought) up|(?:talk(?:ed|ing)?|chat(?:ted|ting)?|sp[eo]ak|spoken?|wr(?:i|o)te"
    r"|written|writing|think|thought|asked|ask) (?:about|of)|refer(?:red)? to|discuss(?:ed|ing)?)"
)
_SAYING = r"(?:talk(?:ed|ing)?|chat(?:ted|ting)?|speak(?:ing)?|spoken?|write|wrote|written|writing|discuss(?:ed|ing)?)"
_X = r"(?P<what>.+?)"
_MOST = r"(?:the )?most(?: often| frequently)?"
_ENTITIES = (
    r"people|persons?|places?|cit(?:y|ies)|things?|groups?|compan(?:y|ies)|organi[sz]ations?|names?|entit(?:y|ies)"
)
_KIND = rf"(?P<kind>{_ENTITIES})"
_CHATS = r"(?:chats?|conversations?|sessions?|threads?|discussions?)"
_MEMORIES = r"(?:memor(?:y|ies)|facts|things you (?:know|remember|learned)|facts you know)"
_COUNTED = (
    r"(?P<thing>messages|turns|replies|answers|chats|conversations|sessions|memories|facts|people|persons|places|things"
    r"|names|documents|files|projects)"
)
_OF_KIND = (
    r"(?P<of>plans?|goals?|preferences?|likes(?: and dislikes)?|projects?|relationships?|facts?|episodes?|identity"
    r"|states?)"
)
_DID = r"(?:did|have|has|had|do|does|was|were|is|are)"

PHRASES: dict[str, tuple[str, ...]] = {
    "most_mentioned": (
        rf"whom? (?:is it )?(?:that )?{_I} {_ABOUT}(?: {_MOST})?",
        rf"(?:about )?whom? {_I} {_SAYING} {_MOST}(?: about| of)?",
        rf"(?:which|what) {_KIND} {_I} {_ABOUT}(?: {_MOST})?",
        rf"(?:all )?(?:the )?{_KIND} (?:that )?{_I} {_ABOUT}(?: {_MOST})?",
        rf"(?:who|which) (?:are|were) (?:the )?{_KIND} (?:that |whom )?{_I} {_ABOUT}(?: {_MOST})?",
        rf"{_KIND} (?:(?:that|which) (?:are|were) )?(?:mentioned|named|discussed|talked about) {_MOST}",
        r"(?:who|which people) (?:do|did) i know",
        rf"whose names? (?:comes?|came|is|was|gets?) (?:up|mentioned) {_MOST}",
        rf"(?:(?:who|what|which) (?:is|are|was|were) )?(?:my |the )?most(?: often| frequently)? "
        rf"(?:mentioned|named|discussed|talked about)(?: {_KIND})?",
        rf"(?:my |the )?top (?:\d+ )?(?:most )?(?:mentioned )?{_KIND}",
        rf"(?:who|which {_KIND}) (?:is|are|was|were|gets?|got|comes?|came) (?:mentioned|named|up|talked about) {_MOST}",
    ),
    "together": (
        rf"(?:who|which people|what people) (?:else )?(?:is|are|was|were|gets?|comes?|came) "
        rf"(?:mentioned|named|up) (?:together |along )?with {_X}",
        rf"(?:who|whom|which people) (?:else )?{_I} (?:mention|name)(?:ed|d)? (?:together |along )?with {_X}",
        rf"who (?:is|are|was|were) (?:connected|related|linked) (?:to|with) {_X}",
    ),
    "how_often": (
        rf"how (?:often|many times|frequently|much) {_I} {_ABOUT} {_X}",
        rf"how (?:often|many times|frequently) {_DID} {_X} (?:been )?(?:mentioned|named|discussed|come up|came up"
        r"|comes up|brought up|talked about)",
        rf"(?:how many|number of|count(?: the)?) (?:mentions|times) (?:of|{_I} {_ABOUT}) {_X}(?: are there)?",
        rf"how many (?:messages|turns) (?:are |were )?(?:there )?(?:(?:that )?mention(?:ing)?|about|contain(?:ing)?"
        rf"|with) {_X}",
        rf"(?:count )?how (?:often|many times|frequently) {_I} (?:say|said|used?|write|wrote|written)"
        rf" (?:the words? )?{_X}",
        rf"count how (?:often|many times) {_I} {_ABOUT} {_X}",
        rf"(?:have|did) (?P<by>i|we)(?: ever| already)? {_ABOUT} {_X}(?: before| already| yet)?",
    ),
    "when_about": (
        rf"(?:when was )?(?:the )?(?P<which>last|first) time (?:that )?{_I} {_ABOUT} {_X}",
        rf"when (?:was it that )?{_I} (?P<which>last|first) {_ABOUT} {_X}",
        rf"(?:when was )?(?:the )?(?P<which>last|first) time (?:that )?{_X} (?:was|got|came|comes) "
        r"(?:mentioned|discussed|up)",
        rf"when {_DID} {_X} (?:mentioned|discussed|come up|brought up) (?:for )?the (?P<which>last|first) time",
        rf"when {_I} {_ABOUT} {_X} (?:for )?(?:the )?(?P<which>last|first)(?: time)?",
        rf"(?P<which>since|for) (?:when|how long) {_I} {_ABOUT} {_X}",
        rf"when {_I} (?P<which>start|begin|began|started) (?:to )?{_ABOUT} {_X}",
        rf"how long ago {_I} (?:(?P<which>last|first) )?{_ABOUT} {_X}",
        rf"when {_I} {_ABOUT} {_X}",
        rf"when {_DID} {_X} (?P<which>last|first) (?:mentioned|discussed|come up|came up|brought up|talked about)",
        rf"when {_DID} {_X} (?:mentioned|discussed|come up|brought up|talked about)(?: (?P<which>last|first))?",
    ),
    "who_said": (
        rf"who (?:has )?(?:said|wrote|written|told)(?: you| me| us)? (?:what |something |anything )?about {_X}",
        rf"who (?:has )?(?:mentioned|talked about|spoke about|spoken about|brought up|discussed) {_X}",
    ),
    "said_about": (
        rf"what (?:all )?{_DID} (?P<who>.+?) (?:say|said|tell|told|write|wrote|written|mention(?:ed)?)"
        rf"(?: you| me| us)? (?:about|of|on) {_X}",
    ),
    "chats_about": (
        rf"(?:in )?(?:which|what) {_CHATS} (?:are|were|is|was|talks?|talked|deals?|dealt)(?: about| with| of) {_X}",
        rf"(?:which|what) {_CHATS} (?:mention(?:s|ed)?|contain(?:s|ed)?|cover(?:s|ed)?|discuss(?:es|ed)?) {_X}",
        rf"(?:in )?(?:which|what) {_CHATS} {_I} {_ABOUT} {_X}(?: in)?",
        rf"(?:all |the |my |our )*{_CHATS} (?:about|on|mentioning|with|(?:that|which) (?:mention|are about|talk about"
        rf"|contain)s?) {_X}",
        rf"where {_I} {_ABOUT} {_X}",
        rf"(?:where|in (?:which|what) {_CHATS}) {_DID} {_X} (?:come up|came up|mentioned|named|discussed|appear)",
    ),
    "wrong": (
        r"what (?:was|were|am|are|have|had) (?:i|you|we)(?: been)? (?:wrong|mistaken) about",
        r"what (?:did|have|had) (?:i|you|we) (?:get|got|gotten) wrong(?: about me)?",
        r"what (?:did|have|had) (?:i|you|we) (?:take back|taken back|correct(?:ed)?|revised?|change my mind about"
        r"|changed my mind about)",
        rf"(?:which|what) {_MEMORIES} (?:is|are|was|were|have been|has been|do|does)? ?"
        r"(?:wrong|no longer hold|not hold any more|superseded|out ?dated|replaced"
        r"|retired|contradicted|invalid|corrected|no longer true|obsolete)",
        r"what (?:is|was|has been) (?:out ?dated|superseded|contradicted|corrected|no longer true|taken back)",
        rf"(?:contradicted|superseded|corrected|out ?dated|retired|wrong) {_MEMORIES}",
    ),
    "changed": (
        r"what (?:all )?(?:has |have |had |is )?(?:changed|is new|been new|is different)(?: (?:about me|with me))?",
        r"(?:did|has|have) anything change[d]?",
        r"(?:is there |was there )?anything (?:new|changed)",
        rf"(?:what|which) {_MEMORIES} (?:have |has |were |was )?(?:been )?(?:changed|revised|updated)",
        r"what (?:are|were) (?:the )?changes",
        r"(?:the )?changes",
    ),
    "learned": (
        r"what (?:new things )?(?:did|have|has) (?:you|clew) (?:learn|learned|learnt|noted?|remembered|pick(?:ed)? up)"
        r"(?: about me)?(?: new)?",
        rf"(?:what|which) (?:new {_MEMORIES}|{_MEMORIES} are new|(?:are|were) (?:the )?new {_MEMORIES})(?: are there)?",
        rf"(?:what are )?(?:the |my |your )?(?:new|newest|latest|most recent) {_MEMORIES}",
    ),
    "known": (
        rf"what (?:all )?(?:do|did|have) (?:you|we) (?:know|remember|recall|have|learn|learned|learnt|stored|noted)"
        rf"(?: learned| stored| noted)? (?:about|of|on) {_X}",
        rf"what (?:information|facts|notes|memories) (?:do|have) you (?:have|got|know)? ?(?:about|on) {_X}",
        rf"(?:the )?things you (?:know|remember|have) about {_X}",
        rf"what is (?:known|stored|noted|remembered) (?:about|of|on) {_X}",
        rf"(?:do you (?:know|remember|have)|is there|have you (?:got|noted)) anything (?:known )?(?:about|on) {_X}",
        rf"what (?:can you tell me|do i know|are the facts|facts do you have) about {_X}",
        rf"(?:summari[sz]e|sum up) (?:what|everything|all) (?:that )?you (?:know|remember) about {_X}",
        r"who (?P<named>.+?) (?:is|was)",
        rf"(?:all |the |any )*(?:everything|all|facts|memories|notes|what)(?: (?:that )?you (?:know|remember|have))?"
        rf" about {_X}",
        rf"about {_X}",
        r"who (?:is|was) (?P<named>.+?)",
    ),
    "path": (
        r"(?:what is |is there |which is |are there )?(?:an? |the |any )?(?:shortest )?"
        r"(?:path|connection|link|route|way|relation|relationship)s? (?:between|from) (?P<a>.+?) (?:and|to) (?P<b>.+?)",
        r"how (?:is|are|was|were) (?P<a>.+?) (?:connected|related|linked) (?:to|with|and) (?P<b>.+?)",
        r"how (?:is|are|do|does) (?P<a>.+?) and (?P<b>.+?) "
        r"(?:connected|related|linked|hang together|belong together|know each other)",
        r"what (?:do|does) (?P<a>.+?) and (?P<b>.+?) have in common",
        r"what (?:connects|links|relates|joins) (?P<a>.+?) (?:and|with|to) (?P<b>.+?)",
    ),
    "counted": (
        rf"(?:how many|the number of|number of|count(?: all)?(?: my| the)?) (?:different )?{_COUNTED}"
        r"(?: (?:did|have|do|had) (?P<by>i|we|you) (?:write|written|wrote|send|sent|said|say|have|had|made|make|start"
        r"|started|begun|begin|mention|mentioned|name|named|talk about"
        r"|talked about|know|keep|kept|remember|learned|learn|read"
        r"|give|gave|given|add|added|import|imported))?"
        r"(?: (?:are|were|is|was) (?:there|stored|kept|known|mentioned|written|sent|said))?(?: in (?:total|all))?",
    ),
    "talked_about": (
        rf"what (?:all )?{_DID} (?:we|i)(?: been)? {_SAYING}(?: about)?(?: together)?",
        r"what (?:was|were) (?:we|i) (?:talking|chatting|speaking|writing) about",
        rf"(?:which|what) {_CHATS} (?:(?:did|have) (?:i|we) (?:have|had)|were there|are there|took place)",
        rf"(?:my|our|the) {_CHATS}",
    ),
    "happened": (r"what (?:all )?(?:happened|was going on|went on)", r"what did (?:i|we) do"),
    "of_kind": (
        rf"(?:(?:what|which) (?:are|were|is) )?(?:all )?(?:of )?my (?:current )?{_OF_KIND}",
        rf"(?:what|which) {_OF_KIND} (?:do|did|have) (?:i|you) (?:have|had|know|know of|mention|mentioned)"
        r"(?: about me)?",
        r"what (?:do|did) i (?P<of>plan|like|prefer|love|dislike|hate)(?: to do)?(?: and (?:dis)?like)?",
    ),
    "proven": (
        rf"(?:(?:which|what) (?:are )?(?:the |my )?)?(?:{_MEMORIES} (?:are|have|is) )?(?:the )?(?:most|best) "
        rf"(?:proven|proved|supported|certain|proof|evidence)(?: {_MEMORIES})?",
        r"what are you (?:most )?(?:sure|certain) (?:of|about)",
    ),
    "pinned": (
        r"what (?:did|have) i pin(?:ned)?",
        rf"(?:what|which (?:messages|turns|{_MEMORIES})) (?:is|are) pinned",
        r"(?:what (?:are|is) )?(?:all )?(?:my |the )?(?:pins|pinned (?:messages|turns|memories|things))",
    ),
    "review": (
        rf"(?:what|which {_MEMORIES}) (?:waits? for|is waiting for|are waiting for|needs?) (?:my |a )?review",
        r"what (?:should|must|can|do|have) i (?:have to |to )?review",
        r"(?:is there )?anything (?:left )?(?:to|for my) review",
        rf"(?:what is|{_MEMORIES}|which {_MEMORIES} are) (?:under review|to be reviewed|unconfirmed)",
    ),
    "busiest": (
        rf"(?:(?:which|what) (?:is|are|was|were) )?(?:my |our |the )?(?:longest|busiest|largest|biggest) {_CHATS}",
        rf"which {_CHATS} (?:has|have|had|is|are|was|were) (?:the )?(?:most messages|longest|busiest)",
    ),
    "hours": (
        rf"when (?:do|did) i {_SAYING} (?:the )?most",
        rf"(?:at )?(?:what|which) (?:time|hours?)(?: of (?:the )?day)? (?:do|did) i {_SAYING}(?: (?:the )?most)?",
    ),
    "weekdays": (
        rf"(?:on )?(?:which|what) (?:days?|weekdays?)(?: of the week)? (?:do|did) i {_SAYING}(?: (?:the )?most)?",
    ),
    "who_said_most": (r"who (?:said|wrote|talked|spoke|writes|talks|speaks|says) (?:the )?most",),
    "documents": (
        r"(?:which|what) (?:documents|files) (?:do|did|have|are|has) (?:you|i|we|there)"
        r"(?: (?:have|know|read|ingested|got|keep|give|given|add|added|gave|import|imported|there))?(?: you)?",
        r"(?:all )?(?:the |my )?documents",
    ),
    "never_recalled": (
        r"(?:which|what) (?:turns|messages) (?:were|was|has|have|did) (?:you )?(?:nobody|never|not)(?: been)? "
        r"(?:recalled?|looked up|used?)",
        r"(?:turns|messages) (?:that )?(?:nobody|no one|you never|were never) (?:recall(?:s|ed)?|used?)",
    ),
    "most_recalled": (
        rf"(?:which|what) {_MEMORIES} (?:are|were|did|do|have|get)(?: you)? (?:recall(?:ed)?|used?) {_MOST}",
        rf"(?:which are )?(?:my |the )?most (?:recalled|used) {_MEMORIES}",
    ),
    "newest_messages": (
        r"(?:what (?:are|were) )?(?:my|our|the) (?:last|latest|newest|most recent)(?: (?P<n>\d{1,3}))? "
        r"(?:messages|turns)",
        r"what (?:did|have) i (?:say|said|write|wrote|written) (?:last|most recently)",
        r"(?:what (?:was|is) )?the last (?:things?|messages?) (?:that )?i (?:said|wrote|sent)",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fit:
    """A question of this kind, and the words of it that matter."""

    kind: str
    words: dict[str, str]


def fits(text: str) -> Iterator[Fit]:
    """What a plain question, without its time, may ask for, the likeliest first."""
    for kind, patterns in _compiled():
        for pattern in patterns:
            if found := pattern.fullmatch(text):
                yield Fit(kind, {name: said for name, said in found.groupdict().items() if said})


@cache
def _compiled() -> "tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]":
    return tuple(
        (kind, tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)) for kind, patterns in PHRASES.items()
    )
