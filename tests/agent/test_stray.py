"""A reply that is a frame of clew's or of a model's is never shown, and one that goes in circles ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.quoting import HEADERS
from agent.stray import Stray

FRAMES = (
    '{"tool":"write_block","name":"Hello","text":"Hello! How can I assist you today?"}',
    '{ "tool" : "answer" }',
    '```json\n{"tool": "forget", "mark": "#ABC123"}\n```',
    '{"name": "search", "arguments": {"query": "tea"}}',
    'search_memory(query="tea", limit=5)',
    "<tool_call>\n{}\n</tool_call>",
    "[TOOL_CALLS][]",
    "<|im_start|>user\nhello",
    "User: and what about tea?",
    "assistant: It is green.",
    '- 2026-05-02, the user: "My dog is called Bo."',
    '- #ABC123 2026-05-02, the assistant: "Tea."',
    "[From tea.example, read 2026-05-02 10:00, not instructions]",
    "<think>\nThe user says hi.\n</think>\nHello!",
    *HEADERS,
    "This is what was said last, the newest first:\n\n**Tea**, 2026-05-02\n- You: Hello.",
    "This is what I know about you, from what you told me:\n\n- You like tea.",
    "These themes run through our conversations:\n\n1. Tea",
)
ANSWERS = (
    "Tea.",
    "On 3 May 2026 the war ended.",
    "- Tea\n- Coffee",
    "1. 2026-05-02: tea",
    '{"name": "Bob", "age": 3}',
    "```yaml\nuser: 1000\nsystem: x\n```\nThat is all.",
    "System administrators use tea.",
    "[1] is a link, <b>x</b> is not.",
    "Users: what they want.",
    "Human rights are for all.",
    "Search the memory with care.",
    '- 2024-01-02, Tom: "first version"',
    "```python\nprint({'tool': 1})\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |\n| 1 | 2 |\n| 1 | 2 |\n",
)


def shown(text: str, asked: str = "hi", step: int = 1) -> tuple[str, bool]:
    """What is shown of a reply that comes in steps, and whether it was cut; what was shown stays."""
    stray, most = Stray(asked), 0
    for end in range(step, len(text) + step, step):
        kept = stray.kept(text[:end])
        assert kept <= len(text[:end])
        most = max(most, kept)
        if stray.met:
            return text[: stray.kept(text[:end])], True
    return text[: max(most, stray.kept(text, ended=True))], stray.met


@pytest.mark.parametrize("step", [1, 4, 1000])
@pytest.mark.parametrize("frame", FRAMES)
def test_nothing_is_shown_of_a_frame_and_no_more_than_what_came_before_one(frame: str, step: int) -> None:
    assert shown(frame, step=step) == ("", True)
    assert shown(f"  \n{frame}", step=step)[0].strip() == ""
    if not frame.startswith("```"):
        assert shown(f"Here you are.\n{frame}", step=step) == ("Here you are.", True)


@pytest.mark.parametrize("step", [1, 4, 1000])
@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_is_shown_whole(answer: str, step: int) -> None:
    assert shown(answer, step=step) == (answer, False)


@pytest.mark.parametrize("frame", FRAMES)
def test_who_writes_one_may_get_one(frame: str) -> None:
    assert shown(frame, asked=f"What does this mean?\n{frame}") == (frame, False)


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ('Write a dialogue. Start each line with "Human:" or "Robot:".', "Human: Hello.\nRobot: Beep.\nHuman: Bye."),
        ("A talk between a user and an assistant about tea", "Here it is:\nUser: Tea?\nAssistant: Yes."),
        ("What is system design?", "System: a set of parts.\nDesign: its plan."),
        ("JSON with the keys tool and price", '{"tool": "hammer", "price": 9}'),
        ("An example of an OpenAI function call?", '{"name": "f", "arguments": {}}'),
        ("What does the token <|endoftext|> mean?", "<|endoftext|> ends a text."),
        ("Explain think tags", "<think> holds what a model thinks."),
    ],
)
def test_who_asks_for_such_a_thing_gets_it(asked: str, reply: str) -> None:
    assert shown(reply, asked=asked) == (reply, False)


def test_a_word_of_another_sense_asks_for_none() -> None:
    for asked in (
        "Which tools do I need in a garden?",
        "Call my mother",
        "Which system is good for notes?",
        "Many times?",
    ):
        for frame in ('{"tool":"forget","mark":"#ABC123"}', "User: and you?", '{"name": "f", "arguments": {}}'):
            assert shown(f"A spade.\n{frame}", asked=asked) == ("A spade.", True), asked


def test_a_reply_ends_where_it_goes_in_circles_and_a_refrain_does_not() -> None:
    line = "I am a helpful assistant who likes to help. "
    assert shown(line * 9) == ((line * 3).rstrip() + " ", True)
    assert shown(line * 10, asked="Write it ten times.") == (line * 10, False)
    assert shown("INSERT INTO tea VALUES (NULL);\n" * 3) == ("INSERT INTO tea VALUES (NULL);\n" * 3, False)
    assert shown("no, " * 40)[1]
    refrain = "Row, row, row your boat,\ngently down the stream.\n"
    assert shown(refrain * 2) == (refrain * 2, False)
    grid = "```\n" + "[0, 0, 0, 0, 0, 0, 0, 0],\n" * 5 + "```\n"
    assert shown(grid) == (grid, False)
    assert shown("-" * 400) == ("-" * 400, False)


@given(st.text(max_size=300), st.integers(1, 40), st.text(max_size=40))
def test_any_text_may_come_in_any_steps(text: str, step: int, asked: str) -> None:
    said, cut = shown(text, asked, step)
    assert text.startswith(said)
    assert cut or said == text
