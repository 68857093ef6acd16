"""Every key of a hand file changes something that runs, or is listed here as what it is: documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from hand.assembly.assemble import model_of, names_of
from hand.assembly.mismatch import draw_mismatch
from hand.file import HandFileError, parse_hand
from hand.file.busfile import parse_bus_file
from hand.file.hand import HandFile
from tests.rigs.mutations import TEXTS, Key, collapsed, keys_of, refusal

BOARD = parse_bus_file('[[bus]]\nname = "b"\nfamily = "collector"\nhost = "127.0.0.1"\n', "bus.toml")

DOCUMENTATION = {
    "description": "a sentence for people",
    "fingers.*.number": "the paper's number of the finger",
    "fingers.*.four_bar.coupler_m": "for people, where the linkage has no tendons_on",
    "fingers.*.four_bar.crank_m": "as coupler_m",
    "fingers.*.four_bar.ground_m": "as coupler_m",
    "fingers.*.four_bar.neutral_crank_deg": "as coupler_m",
    "fingers.*.four_bar.rocker_m": "as coupler_m",
    "forearm.mass_kg": "the forearm stands still",
    "gear.size": "the maker's name of the gear",
    "gear.torque_peak_nm": "bounds what limits may ask for, when the file is checked",
    "gear.torque_rated_nm": "as torque_peak_nm",
    "gear.torsional_stiffness_nm_rad": "neglected, as in the paper",
    "gear.type": "kind of gear, for people",
    "motor.current_limit_continuous_a": "the thermal model has its own limit",
    "motor.current_limit_peak_a": "bounds limits.device_current_a, when the file is checked",
    "motor.phase_inductance_h": "the current loop is the drive's",
    "object.mass_kg": "the object is fixed in the palm",
    "springs.*.lever_inertia_kg_m2": "the lever is modelled without mass",
    "tendon.break_force_n": "bounds the tension limits, when the file is checked",
    "tendon.creep_per_decade": "not in the model",
    "tendon.diameter_m": "with youngs_modulus_pa the check of axial_stiffness_n",
    "tendon.material": "for people",
    "tendon.youngs_modulus_pa": "with diameter_m the check of axial_stiffness_n",
    "wrist.design_load_n": "where tendon.force_limit_n comes from",
    "wrist.drive.motor_ids": "keeps these ids from the motors of tendons; a bus file names the axes",
}
"""Kind of key -> why nothing that runs needs it."""
ONE_VALUE = {
    "schema_version": "the only version",
    "motor.type": "the only kind of motor",
    "object.shape": "the only shape",
    "fingers.*.kind": "says which other keys the finger has",
    "fingers.*.bones.*.name": "bones come in the order of their finger's kind",
}
"""Kind of key -> why no other value is legal beside the other keys of its file."""
CHOICES = {
    "estimation.gradient_search_iterations": ('= "gauss_newton"', '= "gradient_search"'),
    "guides.pairs.*.rope_friction": ('law = "saturating"', 'law = "rope"'),
}
"""Kind of key -> the choice of the file that it belongs to."""


def effects(file: HandFile) -> Iterator[Any]:
    """Everything that a run takes from a hand file, the cheap ones first."""
    names, model = names_of(file), model_of(file)
    yield replace(names, motor_ids=(), hall_channels=())
    yield [entry.settings for entry in BOARD.fitted_to(names).entries]
    yield file.controller, file.estimator, file.control.rate_hz
    yield model.tobytes()
    yield draw_mismatch(model, 1, file.tolerances).tobytes()


def numbers_near(value: float) -> Iterator[Any]:
    if isinstance(value, int):
        yield from (value + 1, value + 20, -value)
    else:
        yield from (value * share for share in (1.001, 0.999, 1.3, 0.7))
        yield from (value + 1e-3, value - 1e-3)


def changed(key: Key) -> Iterator[str]:
    """The file with another value of one key; not each of them is legal."""
    value = key.value
    if isinstance(value, str):
        yield re.sub(rf"\b{re.escape(value)}\b", f"{value}x", key.text)
        told = " ".join(p.legal for p in refusal(key.with_value(f'"{value}x"')))
        yield from (key.with_value(f'"{word}"') for word in re.findall(r"\w+", told) if word != value)
        yield key.with_value('"package.module:function"')
    elif isinstance(value, list):
        for i, old in enumerate(value):
            for new in numbers_near(old):
                yield key.with_value(repr([*value[:i], new, *value[i + 1 :]]))
    else:
        yield from (key.with_value(repr(new)) for new in numbers_near(value))


def together(kind: str) -> Iterator[tuple[str, str]]:
    """(hand, text) of changes that are legal only in two places at once."""
    text = TEXTS["hasy"]
    if kind == "tendons.*.insertion":
        yield (
            "hasy",
            text.replace('insertion = "B"', "@").replace('"D",', '"B",').replace("@", 'insertion = "D"'),
        )
    if kind == "tendon.spring":
        found = re.search(r"\[springs\.tangent_alpha\].*?\n\n", text, re.DOTALL)
        assert found is not None
        other = found.group().replace("tangent_alpha", "other").replace("6000.0", "6100.0")
        yield "hasy", text.replace('spring = "tangent_alpha"', 'spring = "other"') + "\n" + other
    if kind == "motors.*":
        yield (
            "hasy",
            text.replace("m_thumb_1 = 1\n", "m_thumb_1 = 2\n").replace("m_thumb_3 = 2\n", "m_thumb_3 = 1\n"),
        )


def is_value(key: Key) -> bool:
    inner = key.value[0] if isinstance(key.value, list) and key.value else key.value
    return not key.is_label and not isinstance(inner, dict)


def kind_of(key: Key) -> str:
    parts = collapsed(key)
    named = parts[:1] == ("springs",) or parts[:2] == ("guides", "pairs") or "insertions" in parts
    at = {"springs": 1, "guides": 2}.get(parts[0], 3)
    return ".".join("*" if named and i == at else part for i, part in enumerate(parts))


def has_effect(kind: str, keys: list[Key]) -> bool:
    """Whether another value of any of these keys gives a run anything else."""
    choice = CHOICES.get(kind, ("", ""))
    before: dict[str, list[Any]] = {}
    changes = ((key.hand, text) for key in keys for text in changed(key))
    for hand, text in (*together(kind), *changes):
        try:
            file = parse_hand(text.replace(*choice), "hand.toml")
        except HandFileError:
            continue
        if hand not in before:
            before[hand] = list(effects(parse_hand(TEXTS[hand].replace(*choice), "hand.toml")))
        if any(now != then for now, then in zip(effects(file), before[hand], strict=True)):
            return True
    return False


PARTS = 32
"""So many tests share the keys."""


@pytest.mark.sample(3)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_key_changes_what_runs_or_is_documentation(part: int) -> None:
    kinds: dict[str, list[Key]] = {}
    for key in filter(is_value, [*keys_of("finger_bench"), *keys_of("hasy")]):
        kinds.setdefault(kind_of(key), []).append(key)
    assert len(kinds) > 150 and not {*DOCUMENTATION, *ONE_VALUE} - set(kinds)
    mine = sorted(kinds)[part::PARTS]
    idle = {kind for kind in mine if not has_effect(kind, kinds[kind])}
    assert sorted(idle) == [kind for kind in mine if kind in DOCUMENTATION or kind in ONE_VALUE]
