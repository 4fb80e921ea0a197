"""A sentence made of a person's words is not what they said: it has to be told, of the same one, in earnest."""

import pytest

from agent.language.sentences import led_in
from agent.reflection.applying import borne_out, meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The user's name is Marta.", "hey! i'm Marta and i live in Ghent. what can you help me with?"),
        ("The user lives in Porto.", "update: I moved to Porto last weekend, boxes everywhere"),
        ("The user's wife is called Ilse.", "I run a small bookshop with my wife Ilse."),
        ("I was born in Tromsø", "haha yes. i was born in Tromsø so i'm used to worse"),
        ("The user is not vegan and eats fish twice a week.", "ok i lied, I'm not vegan, I eat fish twice a week"),
        ("L'utente si chiama Gaia.", "Ciao! Mi chiamo Gaia e vivo a Torino."),
        ("I'm 30 now!!", "it's my birthday today, I'm 30 now!! cake idea?"),
    ],
)
def test_what_a_person_told_is_borne_out(text: str, said: str) -> None:
    assert borne_out(text, [said])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The user's name is Otto.", "My dog is called Otto."),
        ("The user lives in Basel.", "I work in Basel."),
        ("The user has diabetes.", "I don't have diabetes, my dad has diabetes."),
        ("The user is allergic to peanuts.", "Am I allergic to peanuts or was that my sister?"),
        ("The user lives in Tokyo.", "if i lived in Tokyo i'd eat ramen every day"),
        ("The user is moving to Canada.", 'Tom said "I\'m moving to Canada next year".'),
        ("The user is four cats at home.", "we have four cats at home"),
        ("The user is a robot.", "I'm a robot. Just kidding."),
    ],
)
def test_what_is_only_made_of_their_words_is_not(text: str, said: str) -> None:
    assert not borne_out(text, [said])


def test_of_a_question_only_what_it_tells_is_meant() -> None:
    assert meant("My partner is Svenja, did i say that?") == ["My partner is Svenja"]


def test_words_that_only_mend_are_taken_apart_in_linear_time() -> None:
    assert led_in("no " * 20_000 + "wrong").endswith("wrong")
