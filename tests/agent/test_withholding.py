"""Which messages ask to be kept out of memory, and which only speak of remembering."""

import pytest

from agent.withholding import asks_to_withhold, asks_to_withhold_earlier


@pytest.mark.parametrize(
    "text",
    [
        "Don't remember this",
        "Please don't remember this: I failed the exam.",
        "I failed the exam. Please do not remember that!",
        "I owe my brother 300 euros, don't remember this.",
        "off the record",
        "Off the record, I think she is wrong.",
        "Off the record: I think she is wrong.",
        "This is off the record. My boss drinks.",
        "Keep this out of memory. My PIN is 1234.",
        "My PIN is 1234 - keep this out of your memory please",
        "don’t save this",
        "Do not store this message.",
        "never record this, please",
        "please, don't remember it",
        "My ex called again (don't remember this)",
        "Merk dir das nicht: ich war krank.",
        "Ne retiens pas ça. J'ai perdu.",
        "No recuerdes esto",
        "DON'T REMEMBER THIS!!!",
        "Forget I said that.",
        "x" * 50_000 + "\nKeep this out of memory.",
    ],
)
def test_a_wish_not_to_be_remembered_is_heard(text: str) -> None:
    assert asks_to_withhold(text)


@pytest.mark.parametrize(
    "text",
    [
        "I don't remember this song",
        "I don't remember this.",
        "Don't you remember this?",
        "Don't remember this song? It was a hit.",
        "Why do you not remember this?",
        "She said don't remember this and left me confused about it all",
        'He told me "don\'t remember this" and laughed.',
        "What does off the record mean?",
        "The journalist spoke with him off the record about the vote.",
        "How do I keep this out of memory in C++?",
        "This variable is kept out of memory by the compiler.",
        "Don't forget this",
        "Remember this",
        "I can't remember that",
        "You don't remember this, do you?",
        "Don't save this file to the desktop, use the other folder",
        "Do I have to save this?",
        "Forget it, I'll do it myself",
        "Never mind",
        "I never remember it",
        "We don't remember that",
        "> don't remember this\nwhat does the line above do?",
        "The command is `don't remember this`",
        "They do not record this",
        "Do not record this meeting without asking people",
        "",
    ],
)
def test_what_only_speaks_of_remembering_is_remembered(text: str) -> None:
    assert not asks_to_withhold(text)


@pytest.mark.parametrize(
    "text",
    [
        "Don't remember what I just said.",
        "Please forget that.",
        "please forget what I just told you about my sister",
        "Forget my last message!",
        "Don't remember this",
        "Oh, sorry! Please don't remember that.",
        "Actually, forget that, please.",
        "Keep that out of your memory.",
        "Forget I said that.",
        "Don't save the last thing I said. What is the weather like?",
        "Vergiss das bitte.",
        "Oublie ce que je viens de dire.",
    ],
)
def test_a_wish_that_stands_alone_or_names_it_means_the_message_before(text: str) -> None:
    assert asks_to_withhold_earlier(text)


@pytest.mark.parametrize(
    "text",
    [
        "I failed the exam. Please do not remember that!",
        "Don't remember this: I failed the exam.",
        "Off the record.",
        "Don't remember what I'm about to say.",
        "Don't remember what I say.",
        "Forget it.",
        "Forget that, use the other one.",
        "Forget that. I'll take the train instead.",
        "Did you forget that?",
        "Don't forget that.",
        "Don't forget what I just said.",
        "She said: forget what I just said, and left.",
        "I don't remember what I just said.",
        "Do you remember what I just said?",
        "",
    ],
)
def test_other_words_leave_the_message_before_as_it_is(text: str) -> None:
    assert not asks_to_withhold_earlier(text)


def test_what_i_just_said_is_what_stands_before_it_in_the_same_message() -> None:
    said = "My boss drinks. Don't remember what I just said."
    assert asks_to_withhold(said)
    assert not asks_to_withhold_earlier(said)


def test_new_words_beside_a_wish_about_the_message_before_are_remembered() -> None:
    assert asks_to_withhold("Don't remember what I just said.")
    assert not asks_to_withhold("Forget what I just said. I live in Lyon.")
