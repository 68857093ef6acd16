"""B42: no key of a hand file can be misspelled, mistyped, doubled or left out without a refusal naming it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.file import Problem, parse_hand
from hand.file.locate import dotted
from hand.review.suspicions import suspicions
from tests.rigs.mutations import TEXTS, Key, lists, numbers, refusal, texts

FREE_NAMES = {"dh_dq_m_rad", "palm_m", "bone_m"}
"""Tables whose keys are names of the user's own parts."""


def failures(
    keys: Iterable[Key], mutate: Callable[[Key], str], named: Callable[[Key, Problem], bool]
) -> list[str]:
    """Keys whose mutation is accepted, or refused without a problem that names it."""
    wrong, count = [], 0
    for key in keys:
        count += 1
        problems = refusal(mutate(key))
        if not any(named(key, p) for p in problems):
            shown = "; ".join(str(p) for p in problems[:3]) or "accepted"
            wrong.append(f"{key.hand}:{key.line} {dotted(key.path)}: {shown}")
    assert count > 0
    return wrong


def on_its_line(key: Key, problem: Problem) -> bool:
    return problem.line == key.line and key.name in problem.key


def test_a_misspelled_key_is_refused_with_line_and_nearest_name(keys: list[Key]) -> None:
    def named(key: Key, problem: Problem) -> bool:
        if key.kind[-2:-1] and key.kind[-2] in (*FREE_NAMES, "motors"):
            return problem.line > 0 and key.name in f"{problem.key} {problem.nearest} {problem.found}"
        if key.path[-1] == "origin":
            return problem.line in (key.line, key.line - 1) or "without origin" in problem.found
        return problem.line == key.line and problem.nearest == key.name

    assert failures(_renamable(keys), lambda k: k.with_name(misspelled(k.name)), named) == []


def misspelled(name: str) -> str:
    return name[:-1] + "q" if len(name) < 3 else name[:1] + name[2:]


def _renamable(keys: list[Key]) -> Iterable[Key]:
    """Names of joints in a row of P and letters of points are the user's; the references check them."""
    return (k for k in keys if not (len(k.path) > 1 and k.path[-2] in ("palm_m", "bone_m")))


def test_a_key_in_the_wrong_case_is_refused_with_its_right_name(keys: list[Key]) -> None:
    def named(key: Key, problem: Problem) -> bool:
        if key.kind[-2:-1] and key.kind[-2] in (*FREE_NAMES, "motors"):
            return problem.line > 0
        if key.path[-1] == "origin":
            return problem.line > 0
        return problem.line == key.line and problem.nearest == key.name

    assert failures(_renamable(keys), lambda k: k.with_name(k.name.upper()), named) == []


def test_text_instead_of_a_number_is_refused(keys: list[Key]) -> None:
    assert failures(numbers(keys), lambda k: k.with_value('"high"'), on_its_line) == []


def test_a_number_in_quotes_is_refused(keys: list[Key]) -> None:
    assert failures(numbers(keys), lambda k: k.with_value(f'"{k.value}"'), on_its_line) == []


def test_a_list_instead_of_a_number_is_refused(keys: list[Key]) -> None:
    assert failures(numbers(keys), lambda k: k.with_value(f"[{k.value}, {k.value}]"), on_its_line) == []


@pytest.mark.sample(1)
@pytest.mark.parametrize("value", ["nan", "-inf", "true"])
def test_what_is_no_finite_number_is_refused(keys: list[Key], value: str) -> None:
    assert failures(numbers(keys), lambda k: k.with_value(value), on_its_line) == []


def test_a_number_or_a_longer_list_instead_of_a_list_is_refused(keys: list[Key]) -> None:
    def fixed(key: Key) -> bool:
        return key.name != "motor_ids"

    assert failures(lists(keys), lambda k: k.with_value("1.0"), on_its_line) == []
    longer = [k for k in lists(keys) if fixed(k)]
    assert failures(longer, lambda k: k.with_value(f"[{k.value[0]}, 1.0, 1.0, 1.0, 1.0]"), on_its_line) == []


def test_a_number_instead_of_text_is_refused(keys: list[Key]) -> None:
    assert failures(texts(keys), lambda k: k.with_value("7"), on_its_line) == []


def test_a_removed_key_is_refused_by_its_name(keys: list[Key]) -> None:
    def named(key: Key, problem: Problem) -> bool:
        if key.path[-1] == "origin":
            return "without origin" in problem.found
        if key.is_label:
            return problem.key.split(".")[-1] == key.name and "without origin" in problem.found
        return key.name in (problem.key.split(".")[-1], problem.found.strip('"')) or (
            key.path[0] == "tendons" and problem.legal == "exactly one of dh_dq_m_rad and insertion"
        )

    def needed(key: Key) -> bool:
        """Not an entry of a row of P (another matrix, but a legal one) or a point (named by its letter)."""
        return not any(p in FREE_NAMES for p in key.path[:-1]) and not _optional(key)

    assert failures(filter(needed, keys), lambda k: k.removed(), named) == []


def test_a_hall_channel_that_is_left_out_is_suspected(keys: list[Key]) -> None:
    """A tendon may have no sensor; one that alone has none of its hand was forgotten."""
    channels = [key for key in keys if key.name == "hall_channel" and key.path[0] == "tendons"]
    assert channels
    for key in channels:
        said = [(s.path, s.line) for s in suspicions(parse_hand(key.removed(), key.hand))]
        assert (key.path[:2], key.line) in said, dotted(key.path)


def _optional(key: Key) -> bool:
    if key.name in ("hall_channel", "guide_gain", "lever_gain"):
        return True
    return key.name in ("insertion_set", "insertions") and key.hand == "finger_bench"


def test_a_doubled_key_is_refused_with_both_lines(keys: list[Key]) -> None:
    def named(key: Key, problem: Problem) -> bool:
        return problem.key == dotted(key.path) and f"first in line {key.line}" in problem.found

    assert failures((k for k in keys if k.path[0] != "tendons"), lambda k: k.twice(), named) == []


def test_a_label_with_an_unknown_word_is_refused(keys: list[Key]) -> None:
    labels = [k for k in keys if k.is_label and isinstance(k.value, str)]
    assert failures(labels, lambda k: k.with_value('"measured: yesterday"'), on_its_line) == []


def test_a_comment_without_its_mark_is_refused_or_active() -> None:
    """A lost ``#`` never leaves a file that means the same without a word."""
    text = TEXTS["finger_bench"]
    lines = text.split("\n")
    for k, line in enumerate(lines):
        if "#" not in line:
            continue
        mutated = "\n".join([*lines[:k], line.replace("#", "", 1).rstrip(), *lines[k + 1 :]])
        empty = line.strip() == "#"
        problems = refusal(mutated)
        if line.startswith("# controller") or line.startswith("# estimator"):
            stage = line[2:].split(" ")[0]
            assert getattr(parse_hand(mutated, "x"), stage) != "flexor"
        else:
            assert empty or (problems and problems[0].line == k + 1), line


def test_a_tab_is_a_space_between_and_an_error_inside_a_name() -> None:
    text = TEXTS["finger_bench"]
    plain = parse_hand(text, "x").model_dump()
    assert parse_hand(text.replace(" = ", "\t=\t"), "x").model_dump() == plain
    problems = refusal(text.replace("rate_hz = 3000.0", "rate\thz = 3000.0"))
    assert len(problems) == 1
    assert problems[0].line == 1 + text[: text.index("rate_hz = 3000.0")].count("\n")


def test_line_ends_and_byte_order_marks_of_other_editors_change_nothing(tmp_path: object) -> None:
    from pathlib import Path

    from hand.file import load_hand

    text = TEXTS["finger_bench"]
    file = Path(str(tmp_path)) / "hand.toml"
    file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_hand(file).model_dump() == parse_hand(text, "x").model_dump()
    file.write_bytes(text.replace("3000.0", "high").replace("\n", "\r\n").encode())
    (problem,) = refusal(file.read_bytes().decode())
    assert problem.line == 1 + text[: text.index("3000.0")].count("\n")


def test_a_list_with_what_is_no_number_is_refused(keys: list[Key]) -> None:
    def nan_first(key: Key) -> str:
        return key.with_value("[" + ", ".join(["nan", *(str(v) for v in key.value[1:])]) + "]")

    def text_last(key: Key) -> str:
        return key.with_value("[" + ", ".join([*(str(v) for v in key.value[:-1]), '"1.0"']) + "]")

    assert failures(lists(keys), nan_first, on_its_line) == []
    assert failures(lists(keys), text_last, on_its_line) == []


@given(st.data())
def test_whatever_happens_to_a_file_it_is_a_hand_or_refused(data: st.DataObject) -> None:
    """Pieces of the file cut, doubled, or moved: no other exception, no endless loop, places that exist."""
    text = TEXTS[data.draw(st.sampled_from(sorted(TEXTS)))]
    places = st.integers(0, len(text))
    for _ in range(data.draw(st.integers(1, 3))):
        start, to = data.draw(places), data.draw(places)
        piece = text[start : start + data.draw(st.sampled_from([1, 3, 20, 400]))]
        change = data.draw(st.sampled_from(["cut", "double", "move"]))
        if change != "double":
            text = text[:start] + text[start + len(piece) :]
        if change != "cut":
            text = text[:to] + piece + text[to:]
    lines = text.count("\n") + 1
    assert all(p.found and 0 <= p.line <= lines for p in refusal(text))
