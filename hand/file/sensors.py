"""Sensors of a hand file beside the levers' Hall sensors, of forces and of joints: rows, none mandatory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from hand.file.checks_names import joint_entries
from hand.file.errors import shown
from hand.file.raw import dict_at, dicts_at, text_of
from hand.file.refusals import UNSAID_KIND, Refusal
from hand.file.springs import LEVER_KINDS
from hand.file.values import Count, Name, NonNegative, Positive, Sign
from signals.choices import nearest
from signals.tables import Table

Raw = dict[str, Any]


class _Cell(Table):
    """A count that grows straight with a force."""

    channel: Count
    """Its channel, from 1, among the Hall channels; a bus file may say another, for the tendon ``at``."""
    bits: Annotated[int, Field(ge=8, le=24)]
    """Resolution."""
    span_n: Positive
    """Force, or difference of forces, over the full scale."""
    zero_count: NonNegative
    """Count of the slack tendon, or at equal forces."""
    direction: Sign
    """1: the count rises with the force of ``at``, -1: it falls."""
    noise_counts_rms: NonNegative
    """Noise."""
    filter_hz: Positive
    """The sensor's own low-pass."""


class ForceSensor(_Cell):
    """A sensor of a tendon's force, as a strain gauge or a load cell at a pulley."""

    kind: Literal["force"]
    """``force``; the sensor of a lever is a tendon's ``hall_channel``."""
    at: Name
    """Tendon whose force it reads, without a lever."""


class DifferenceSensor(_Cell):
    """A sensor of the difference of two tendons' forces, as a load cell at the idler or spool of a pair."""

    kind: Literal["force_difference"]
    """``force_difference``."""
    at: Name
    """Tendon without a sensor of its own, whose force counts with its sign."""
    against: Name
    """Tendon of the same finger whose force is taken off."""


class JointSensor(Table):
    """A sensor of a joint's angle, as a magnetic encoder on its axis."""

    kind: Literal["joint"]
    """``joint``."""
    at: Name
    """Joint whose angle it reads, of a finger or of a wrist."""
    channel: Count
    """Its channel, from 1, on the bus that reads it; a bus file may say another."""
    bits: Annotated[int, Field(ge=8, le=24)]
    """Resolution."""
    span_deg: Annotated[float, Field(gt=0.0, le=360.0)]
    """Angle over the full scale; 360: the count begins anew after a turn."""
    zero_count: NonNegative
    """Count of the straight joint."""
    direction: Sign
    """1: the count rises with the joint's angle, -1: it falls."""
    noise_counts_rms: NonNegative
    """Noise."""
    accuracy_deg: NonNegative
    """What its zero and its linearity leave unknown, 1 sigma."""
    filter_hz: Positive
    """The sensor's own low-pass."""


Sensor = Annotated[ForceSensor | DifferenceSensor | JointSensor, Field(discriminator="kind")]
"""A row of ``sensors``."""


def spring_kind(raw: Raw, tendon: Raw) -> str:
    """Kind of the spring that a tendon has, or "" if it cannot be read."""
    name = text_of(tendon, "spring") or text_of(dict_at(raw, "tendon"), "spring")
    table = dict_at(raw, "springs").get(name)
    return (text_of(table, "kind") or UNSAID_KIND) if isinstance(table, dict) else ""


def sensor_refusals(raw: Raw) -> Iterator[Refusal]:
    """Sensors at nothing, two at one part, or of what a tendon does not have; tables that a lever needs."""
    tendons = {text_of(t, "name"): (k, t) for k, t in dicts_at(raw, "tendons") if text_of(t, "name")}
    parts = {"force": ("tendon", list(tendons)), "joint": ("joint", [n for _, n, _ in joint_entries(raw)])}
    parts["force_difference"] = parts["force"]
    first: dict[tuple[str, str], int] = {}
    for k, row in dicts_at(raw, "sensors"):
        at, kind = text_of(row, "at"), text_of(row, "kind")
        what, names = parts.get(kind, ("", []))
        if at and what and at not in names:
            legal = f"a {what}: {', '.join(names) or 'none is there'}"
            near = nearest(at, names)
            yield Refusal(path=("sensors", k, "at"), found=shown(at), legal=legal, nearest=near)
        if (kind, at) in first:
            path, also = ("sensors", k, "at"), ("sensors", first[kind, at], "at")
            yield Refusal(path=path, found=f"{shown(at)} a second time", legal="one sensor each", also=also)
        first.setdefault((kind, at), k)
        if kind != "force" or at not in tendons:
            continue
        n, tendon = tendons[at]
        if spring_kind(raw, tendon) in LEVER_KINDS:
            found = f"a force sensor at {at}, whose spring is a lever"
            yield Refusal(path=("sensors", k, "at"), found=found, legal="a tendon of a linear or cord spring")
        for key in ("hall_channel", "hall_zero_count", "hall_noise_counts_rms"):
            if key in tendon:
                legal = f"no {key}: {at} has a force sensor"
                yield Refusal(path=("tendons", n, key), found=f"a key {key}", legal=legal)
    yield from _difference_refusals(raw, tendons)
    yield from _lever_needs(raw, list(tendons.values()))


def _difference_refusals(raw: Raw, tendons: dict[str, tuple[int, Raw]]) -> Iterator[Refusal]:
    """Differences of a tendon and itself, of two fingers, of levers, in another's channel, or not used."""
    forces = {text_of(s, "at") for _, s in dicts_at(raw, "sensors") if text_of(s, "kind") == "force"}
    for k, row in dicts_at(raw, "sensors"):
        at, against = text_of(row, "at"), text_of(row, "against")
        if text_of(row, "kind") != "force_difference" or at not in tendons:
            continue
        path, (i, own) = ("sensors", k, "against"), tendons[at]
        if "hall_used" in own:
            legal = f"no hall_used: {at} has a force difference; not to use it, take its row out of sensors"
            yield Refusal(path=("tendons", i, "hall_used"), found="a key hall_used", legal=legal)
        mates = [n for n, (_, t) in tendons.items() if n != at and t.get("finger") == own.get("finger")]
        if against and against not in mates:
            legal = f"another tendon of its finger: {', '.join(mates) or 'there is none'}"
            near = nearest(against, mates)
            yield Refusal(path=path, found=shown(against), legal=legal, nearest=near)
        if at in forces or "hall_channel" in own:
            found = f"a force difference at {at}, which has a sensor of its own"
            legal = "a tendon without one; the other, against, may have one"
            yield Refusal(path=("sensors", k, "at"), found=found, legal=legal)
        for key, name in (("at", at), ("against", against)):
            if name in mates or name == at:
                if spring_kind(raw, tendons[name][1]) in LEVER_KINDS:
                    found = f"{shown(name)}, whose spring is a lever"
                    legal = "a tendon of a linear or cord spring"
                    yield Refusal(path=("sensors", k, key), found=found, legal=legal)


def _lever_needs(raw: Raw, tendons: list[tuple[int, Raw]]) -> Iterator[Refusal]:
    levers = [t for _, t in tendons if spring_kind(raw, t) in LEVER_KINDS]
    needed = {
        "hysteresis": (levers, "springs with a lever have a friction loop"),
        "hall": ([t for _, t in tendons if "hall_channel" in t], "a hall_channel has a sensor"),
    }
    for key, (those, why) in needed.items():
        if those and key not in raw:
            yield Refusal(path=(key,), found="nothing", legal=f"a table [{key}]: {why}")
    if levers and isinstance(raw.get("tendon"), dict) and "slack_margin_deg" not in raw["tendon"]:
        legal = "a number [deg]: where a lever is at its slack stop"
        yield Refusal(path=("tendon", "slack_margin_deg"), found="nothing", legal=legal)
    for k, tendon in tendons:
        if "hall_channel" in tendon and spring_kind(raw, tendon) in ("linear", "cord"):
            found = f"a Hall sensor at {text_of(tendon, 'name')}, which has no lever"
            legal = "a spring of kind lever or polynomial, or a row of kind force in sensors"
            yield Refusal(path=("tendons", k, "hall_channel"), found=found, legal=legal)
