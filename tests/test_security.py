"""SECURITY.md, sentence by sentence: each promise is held by tests, which are named here."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.test_house import ROOT

# How a sentence begins, and the tests that hold it, each by its file and its name.
HELD = {
    "Models are downloaded by": (
        ("tui/test_first_start.py", "test_enter_takes_the_best_t_a_tiny_one_and_q_or_an_end_nothing"),
        ("tui/commands/test_query_in_words.py", "test_a_model_that_is_missing_is_named_and_not_fetched"),
        ("agent/test_loader.py", "test_the_first_start_fetches_both_default_models"),
    ),
    "Every download is checked": (
        ("models/test_fetch.py", "test_a_wrong_checksum_is_refused_and_thrown_away"),
        ("models/test_remote.py", "test_a_hub_file_is_checked_at_any_offset_tokenless_elsewhere"),
    ),
    "Pages and posts are asked for": (
        ("agent/references/test_client.py", "test_a_host_is_asked_only_if_it_may_be"),
        ("agent/references/test_client.py", "test_no_cookie_comes_back"),
    ),
    "What you write goes to another": (
        (
            "agent/service/test_model_servers.py",
            "test_whoever_comes_later_is_told_that_words_leave_and_that_they_do_no_more",
        ),
        ("tui/test_servers_shown.py", "test_the_host_is_on_the_line_however_narrow_it_is_and_whatever_else_is_shown"),
    ),
    "Everything is in one folder, readable": (("agent/test_home.py", "test_the_folders_are_made_and_private"),),
    "docs/architecture.md lists": (("test_kept.py", "test_every_file_that_clew_makes_is_in_the_table"),),
    "What you delete is erased from": (
        ("agent/test_purging.py", "test_no_file_of_an_open_home_has_a_word_of_what_was_deleted"),
        ("agent/test_purging.py", "test_automatic_backups_lose_it_too_and_still_verify"),
        ("agent/test_purging.py", "test_a_piece_of_what_was_deleted_leaves_queries_and_drafts_for_its_words_together"),
    ),
    "A host that only deleted": (
        (
            "agent/references/test_in_chats.py",
            "test_a_host_that_only_a_deleted_chat_named_is_asked_about_again_and_its_page_is_read_anew",
        ),
    ),
    "`clew doctor --deep --absent -`": (
        ("tui/commands/test_doctor.py", "test_words_that_are_to_be_nowhere_are_looked_for_in_every_file"),
    ),
    "The hash chain of the log": (("graph/log/test_log.py", "test_a_salt_hides_what_was_erased_from_guessing"),),
    "Its memory lies in RAM": (
        ("agent/test_private.py", "test_a_private_chat_answers_and_leaves_no_trace"),
        ("agent/test_private.py", "test_what_a_killed_clew_left_is_removed_but_not_of_one_that_runs"),
        ("tui/test_private.py", "test_no_word_of_a_private_chat_is_found_after_any_key"),
    ),
    "What it read, and whom": (
        (
            "agent/references/test_in_chats.py",
            "test_who_may_be_asked_and_what_was_read_in_a_private_chat_is_that_chats_alone",
        ),
    ),
    "The processes that hold it": (
        ("agent/test_private.py", "test_a_private_chat_answers_and_leaves_no_trace"),
        ("tui/test_private.py", "test_a_crash_of_the_face_leaves_no_core_file"),
    ),
    "What a person, a file, an import": (
        ("models/test_vocabulary.py", "test_any_text_goes_through_tokens_and_back_without_a_control_token"),
        ("models/test_chat_completions.py", "test_no_words_reach_a_server_as_a_control_token_of_any_model"),
        ("tui/test_chat.py", "test_no_text_is_markup_no_escape_reaches_the_screen_and_a_huge_paste_is_shown_folded"),
        ("tui/commands/test_keeping.py", "test_what_is_shown_obeys_no_terminal_and_what_is_piped_is_taken"),
        ("agent/asking/test_questions.py", "test_no_word_of_a_question_is_part_of_a_statement"),
    ),
    "Files and hosts that a pasted text names": (
        (
            "tui/test_attaching.py",
            "test_what_a_pasted_text_names_is_asked_about_by_its_name_and_nothing_is_opened_or_allowed_before",
        ),
    ),
    "Pages, feeds and PDFs are read": (
        ("agent/test_confined.py", "test_it_reads_no_file_writes_none_connects_to_nobody_and_runs_nothing"),
        ("agent/test_confined.py", "test_it_is_given_no_environment_and_ends_with_what_it_reads"),
    ),
    "Exports, cards and the patterns": (
        (
            "agent/test_importing_files.py",
            "test_a_small_zip_that_unpacks_to_endless_values_is_refused_before_they_are_made",
        ),
        ("agent/story/test_cards.py", "test_what_is_too_large_too_deep_or_too_many_is_refused"),
        ("agent/test_plots.py", "test_lore_that_has_no_room_or_never_ends_is_told_of"),
    ),
    "A model's chat template": (
        ("models/test_template.py", "test_a_template_without_end_or_room_is_not_used_and_what_is_learnt_is_remembered"),
    ),
    "No link in a folder": (("agent/ingesting/test_files.py", "test_no_link_of_a_folder_leads_to_what_is_not_in_it"),),
    "A backup whose schema": (
        ("graph/transfer/test_restoring.py", "test_what_is_no_whole_backup_changes_nothing"),
        (
            "graph/transfer/test_restoring.py",
            "test_a_backup_whose_log_is_made_otherwise_is_refused_and_what_is_beside_it_goes",
        ),
    ),
    "A query of your own": (
        ("graph/console/test_hostile.py", "test_none_is_ever_run_by_the_console"),
        ("graph/console/test_answers.py", "test_a_query_without_measure_ends_in_its_bounds_and_takes_nothing_of_ours"),
    ),
    "Over MCP they read": (
        ("tui/mcp/test_mcp_for_real.py", "test_nothing_hidden_deleted_kept_out_or_of_a_what_if_is_in_any_answer"),
        ("test_projects.py", "test_nothing_leaves_its_project"),
    ),
    "What they want remembered": (
        ("tui/mcp/test_mcp_for_real.py", "test_what_is_remembered_waits_for_the_user_and_is_the_programs"),
        ("test_in_use.py", "test_what_is_not_in_use_is_told_by_no_door_and_stands_in_no_prompt"),
    ),
    "`clew web` listens": (
        (
            "tui/web/test_web_for_real.py",
            "test_only_who_has_the_loopback_address_gets_in_and_the_page_loads_from_nowhere_else",
        ),
    ),
    "It listens on a Unix socket": (
        ("agent/service/test_address.py", "test_a_folder_that_others_may_enter_is_refused"),
        ("agent/service/test_server.py", "test_the_socket_is_one_users_has_the_memory_and_goes_in_the_end"),
    ),
    "Both ends ask the system": (
        ("agent/service/test_address.py", "test_nothing_is_sent_to_a_socket_at_which_another_user_listens"),
    ),
    "No face names a file": (
        (
            "agent/service/test_server.py",
            "test_no_file_is_asked_of_a_service_elsewhere_which_would_take_its_own_of_that_name",
        ),
    ),
    "A log that cannot be read just now": (
        (
            "graph/readings/test_unreadable.py",
            "test_without_a_file_to_open_it_is_not_damaged_and_is_read_a_moment_later",
        ),
    ),
    "What works in the background": (("agent/test_workers.py", "test_a_bug_ends_no_worker_for_good_and_is_told"),),
}


def sentences() -> Iterator[str]:
    """What the page promises: the bold words of an item say in short what those behind them do."""
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    promised = page.partition("## What clew promises")[2].partition("## What it does not")[0]
    for item in re.split(r"\n- ", promised)[1:]:
        words = re.sub(r"^\*\*[^*]+\.\*\* ", "", " ".join(item.split())).replace("**", "")
        yield from (each.strip() for each in re.split(r"(?<=[.)]) (?=[A-Z`]|docs/)", words))


@cache
def named_in(file: str) -> set[str]:
    """The tests of a file."""
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_sentence_is_held_by_tests_that_are_there() -> None:
    promised = list(sentences())
    for begins, held in HELD.items():
        assert [each for each in promised if each.startswith(begins)], f"SECURITY.md does not say “{begins} …”"
        assert [name for file, name in held if name not in named_in(file)] == []
    assert [each for each in promised if not each.startswith(tuple(HELD))] == []
