"""The benchmark of relations: its file is sound, and right, wrong and accepted are told apart."""

from collections import Counter
from datetime import date

from bench.expected import plain
from bench.relations import FILE, FINDERS, KINDS, Message, Relation, Tally, Unnamed, figures, measure, read, score

TREVOR = Relation(subject="you", kind="works_with", object="Trevor")
HALE = Relation(subject="Mr. Hale", kind="teaches", object="Ben")
LEFT = Relation(subject="you", kind="lives_in", object="Leeds", ended=True, until="2026-03")
KNOWN = Relation(subject="you", kind="knows", object="Ben")
LIKED = Relation(subject=Unnamed(owner="you", word="sister"), kind="likes", object="Leeds", polarity=False)


def message(*relations: Relation, accept: tuple[Relation, ...] = (), category: str = "plain") -> Message:
    """A message that tells these."""
    fields = {"id": "a", "class": category, "said_at": date(2026, 10, 14), "text": "So it is."}
    return Message.model_validate({**fields, "relations": relations, "accept": accept})


def counts(tally: Tally) -> tuple[int, int, int]:
    """Expected, found and right."""
    return tally.expected, tally.found, tally.right


def test_the_file_has_every_kind_and_every_end_stands_in_its_message() -> None:
    messages = read(FILE)
    kinds = Counter(told.kind for each in messages for told in each.relations)
    assert len({each.id for each in messages}) == len({each.text for each in messages}) == len(messages) == 150
    assert {kind for kind in KINDS if kinds[kind] < 3} == {"other"}
    assert sum(each.hard for each in messages) == 60
    for each in messages:
        assert (each.category == "nothing") == (not each.relations), each.id
        for told in (*each.relations, *each.accept):
            assert told.polarity or "denied" in KINDS[told.kind], each.id
            for end in (told.subject, told.object):
                words = (end,) if isinstance(end, str) else (end.owner, end.word)
                assert all(word == "you" or plain(word) in plain(each.text) for word in words), each.id


def test_the_messages_to_tune_on_are_others_and_sound() -> None:
    messages = read(FILE.with_name("relations-dev.json"))
    assert len({each.id for each in messages}) == len({each.text for each in messages}) == len(messages) >= 120
    assert not {each.text for each in messages} & {each.text for each in read(FILE)}
    for each in messages:
        assert (each.category == "nothing") == (not each.relations), each.id
        for told in (*each.relations, *each.accept):
            for end in (told.subject, told.object):
                words = (end,) if isinstance(end, str) else (end.owner,)
                assert all(word == "you" or plain(word) in plain(each.text) for word in words), (each.id, end)


def test_a_finder_that_finds_it_all_is_right_in_all() -> None:
    messages = read(FILE)
    answers = {each.text: each.relations for each in messages}
    found = figures(measure(messages, lambda text, said_at: answers[text]))
    assert found["overall"]["right"] == found["overall"]["expected"] == found["overall"]["found"]
    assert found["overall"]["from_nothing"] == 0
    assert {row[share] for row in found["by_class"].values() for share in ("precision", "recall", "direction")} == {1.0}


def test_names_are_the_same_without_case_and_titles_and_a_symmetric_kind_from_either_end() -> None:
    found = [
        Relation(subject="trevor", kind="works_with", object="you"),
        Relation(subject="hale", kind="teaches", object="BEN"),
        LIKED,
    ]
    assert counts(score(message(TREVOR, HALE, LIKED), [*found, *found])) == (3, 3, 3)


def test_the_wrong_way_round_is_wrong_and_told_as_that() -> None:
    tally = score(message(TREVOR, HALE), [TREVOR, Relation(subject="Ben", kind="teaches", object="Mr Hale")])
    assert counts(tally) == (2, 2, 1)
    assert tally.figures()["direction"] == 0.5


def test_another_polarity_kind_or_end_is_wrong() -> None:
    for wrong in ({"polarity": True}, {"kind": "owns"}, {"subject": "sister"}, {"object": "Hull"}):
        assert counts(score(message(LIKED), [LIKED.model_copy(update=wrong)])) == (1, 1, 0), wrong


def test_endings_and_dates_count_apart() -> None:
    for changes, endings_right, dates_right in (
        ({}, 1, 1),
        ({"until": "2026-03-31"}, 1, 1),
        ({"until": "2026"}, 1, 0),
        ({"until": None}, 1, 0),
        ({"ended": False}, 0, 1),
    ):
        tally = score(message(LEFT), [LEFT.model_copy(update=changes)])
        assert counts(tally) == (1, 1, 1)
        assert (tally.endings_right, tally.dates_right) == (endings_right, dates_right), changes


def test_what_is_accepted_does_not_count_and_what_is_found_in_nothing_does() -> None:
    assert counts(score(message(HALE, accept=(KNOWN,)), [HALE, KNOWN])) == (1, 1, 1)
    found = figures(measure([message(category="nothing"), message(HALE)], lambda text, said_at: [HALE]))
    assert found["overall"]["from_nothing"] == 1
    assert (found["overall"]["precision"], found["overall"]["recall"]) == (0.5, 1.0)


def test_a_perfect_model_is_held_to_what_a_message_offers() -> None:
    said = {"id": "b", "class": "indirect", "said_at": date(2026, 10, 14), "text": "Trevor does my tax, at my office."}
    hidden = message(HALE)
    grounded = Message.model_validate({**said, "relations": (TREVOR,)})
    find = FINDERS["perfect"]([hidden, grounded])
    found = figures(measure([hidden, grounded], find))["overall"]
    assert (found["right"], found["found"], found["expected"]) == (1, 1, 2)


def test_words_of_relationship_that_mean_the_same_are_the_same() -> None:
    mum, mother = (
        Relation(subject=Unnamed(owner="you", word=word), kind="likes", object="Leeds") for word in ("mum", "mother")
    )
    assert counts(score(message(mum), [mother])) == (1, 1, 1)
