"""Frames are learnt from a model's own template where they hold for a growing prompt, else its family's are taken."""

import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.frames import _told, learn_apart
from models.template import BUILT_IN, PLAIN, ChatFormat, choose_format, learn

TEMPLATES = tomllib.loads((Path(__file__).parent / "templates.toml").read_text("utf-8"))
CHATML, FORGETFUL, COUNTING = (TEMPLATES[name] for name in ("chatml", "forgetful", "counting"))


def learnt(template: str, *, bos: str = "<bos>", eos: str = "<eos>") -> ChatFormat:
    found = learn(template, bos=bos, eos=eos)
    assert found is not None
    return found


def test_chatml_is_learnt_with_its_own_opening() -> None:
    frames = learnt(CHATML, bos="<|im_start|>")
    assert frames.around("system", first=True) == ("<|im_start|>system\n", "<|im_end|>\n")
    assert frames.around("user") == ("<|im_start|>user\n", "<|im_end|>\n")
    assert frames.around("assistant") == ("<|im_start|>assistant\n", "<|im_end|>\n")
    assert frames.around("user", first=True)[0] == "<|im_start|>system\nYou are kind<|im_end|>\n<|im_start|>user\n"


def test_a_bos_begins_the_first_message_only() -> None:
    frames = learnt(TEMPLATES["llama3"], bos="<|begin_of_text|>")
    header = "<|start_header_id|>system<|end_header_id|>\n\n"
    assert frames.around("system", first=True) == (f"<|begin_of_text|>{header}", "<|eot_id|>")
    assert frames.around("system")[0] == header


def test_a_template_without_a_system_role_frames_it_as_the_users() -> None:
    frames = learnt(TEMPLATES["gemma"])
    assert frames.system == frames.user == ("<start_of_turn>user\n", "<end_of_turn>\n")
    assert frames.around("system", first=True)[0] == "<bos><start_of_turn>user\n"
    assert frames.assistant == ("<start_of_turn>model\n", "<end_of_turn>\n")


def test_a_reasoning_template_asks_as_its_past_replies_look_and_a_system_text_that_moves_is_the_users() -> None:
    assert learnt(TEMPLATES["r1"]).assistant == ("<Assistant>", "<eos>")
    frames = learnt(TEMPLATES["moving"])
    assert frames.system == frames.user == ("[INST] ", "[/INST]")
    assert frames.assistant == (" ", "<eos>")


def test_a_template_that_rewrites_its_past_or_counts_its_messages_gives_way_to_its_family() -> None:
    for template in (FORGETFUL, COUNTING):
        assert learn(template, bos="", eos="") is None
        assert choose_format(template, None, markers=["<|im_start|>"]).name == "chatml"
    assert choose_format(FORGETFUL, None, markers=[]) is PLAIN
    assert choose_format(None, None, markers=["<|start_header_id|>", "<|eot_id|>"]).name == "llama3"
    assert choose_format("[INST] {{ broken", None, markers=[]).name == "mistral"


def test_a_template_that_fails_or_attacks_is_not_used() -> None:
    for template in (
        "{% for",
        "{{ 1 / 0 }}",
        "{{ messages.missing.deeper }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{% for i in range(10**9) %}x{% endfor %}",
        "no messages at all",
        "{{ messages[99].content }}",
    ):
        assert learn(template, bos="", eos="") is None


@pytest.mark.process
def test_a_template_without_end_or_room_is_not_used_and_what_is_learnt_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nested = "{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3
    for template in (nested, "{{ 'x' * 10**11 }}", "{{ '%99999999999d' | format(1) }}", "{{ 'x'.center(10**11) }}"):
        assert learn_apart(f"{template}{CHATML}", bos="", eos="") is None
    assert learn_apart(f"{'A' * 30_000}{CHATML}", bos="", eos="") is None, "frames go into every prompt"
    memo = tmp_path / "probed.json"
    found = learn_apart(CHATML, bos="<|im_start|>", eos="", memo=memo)
    assert found == learnt(CHATML, bos="<|im_start|>", eos="")
    monkeypatch.setattr(subprocess, "run", None)
    _told.cache_clear()
    assert learn_apart(CHATML, bos="<|im_start|>", eos="", memo=memo) == found
    assert learn_apart(None, bos="", eos="") is None


def test_every_built_in_format_opens_and_closes_each_role() -> None:
    for marker, frames in BUILT_IN:
        for role in ("user", "assistant"):
            before, after = frames.around("user" if role == "user" else "assistant")
            assert before + after, (marker, role)
        assert frames.around("system", first=True)[0].startswith(frames.start)


@given(st.lists(st.sampled_from(["user", "assistant"]), min_size=1, max_size=6), st.data())
def test_a_beginning_of_a_conversation_begins_the_whole(roles: list[str], data: st.DataObject) -> None:
    frames = learnt(CHATML, bos="<|im_start|>")
    talk = [("user" if role == "user" else "assistant", data.draw(st.text(max_size=9))) for role in roles]
    whole = frames.join(talk)  # type: ignore[arg-type]
    for length in range(1, len(talk)):
        assert whole.startswith(frames.join(talk[:length]))  # type: ignore[arg-type]
