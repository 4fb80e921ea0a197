"""Whether an answer of a model refuses the task: held to a form, it still can say so where a sentence is asked for.

English alone is read, in which the models are asked. What people cannot do is no refusal: "I can't eat nuts".
"""

import re

from .consolidation import Actions, Create, Update

_DO = (
    r"(?:help|assist|comply|fulfil|fulfill|answer|process|provide|continue|complete|participate|engage|respond"
    r"|create|generate|extract|discuss)"
)
_REFUSES = re.compile(
    rf"^\W*(?:I(?:['’]m| am) (?:very |so |really )?sorry\b|I apologi[sz]e\b)"
    rf"|\bI (?:must|have to|need to) decline\b"
    rf"|\bas an? (?:AI(?: assistant| (?:language )?model)?|language model),? I\b"
    rf"|\bI(?:['’]m| am) (?:unable|not able) to {_DO}\b"
    rf"|\bI (?:can(?:['’]t|not| not)|won['’]t|will not) {_DO}\b",
    re.IGNORECASE,
)


def refuses(answer: object) -> bool:
    """Whether an answer, an `Actions` or the text that came instead of one, says nothing but that it will not."""
    if isinstance(answer, Actions):
        told = [each.text for each in answer.actions if isinstance(each, Create | Update)]
        return len(told) == len(answer.actions) > 0 and all(map(_REFUSES.search, told))
    return isinstance(answer, str) and '"actions"' not in answer and _REFUSES.search(answer) is not None
