"""``flexor identify``: measure friction, inertia and ripple of the drives of a hand."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """The tendons of these motors must be off their spools; on hardware say --tendons-off when they are.

Exit code 0: all parts are good; 1: some are not; 2: usage; 3: the hand went into fault; 130: stopped.

Examples:

flexor identify drives --hand finger_bench --lockstep --out drives

flexor identify ripple m_index_1 --hand my_hand.toml --bus my_bus.toml --tendons-off --out ripple

flexor apply drives --to my_hand.toml
"""


@app.command(epilog=EPILOG)
def identify(
    kind: Annotated[str, typer.Argument(help="friction, inertia, ripple, or drives: all three.")],
    parts: Annotated[list[str] | None, typer.Argument(help="Motors or fingers; default: all motors.")] = None,
    hand: Annotated[str, typer.Option(help="A shipped hand, or a hand file.")] = "finger_bench",
    bus: Annotated[str | None, typer.Option(help="Bus file of the hardware; default: simulated.")] = None,
    lockstep: Annotated[bool, typer.Option(help="In simulated time.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the results.")] = None,
    tendons_off: Annotated[bool, typer.Option("--tendons-off", help="The tendons are off.")] = False,
    plant: Annotated[str | None, typer.Option(help="Hand file of the simulated hand, if another.")] = None,
    mismatch: Annotated[int | None, typer.Option(help="Draw the plant from the tolerances, SEED.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.")] = 0,
    port_base: Annotated[int, typer.Option(help="First of the two ports.")] = 5600,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Turn motors without load; write friction, inertia or ripple with 95 % intervals, a page and a patch."""
    from calibration.free_turning import Faulted, measure
    from calibration.identify import KINDS, fits_of, parts_of, patch_of
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice, advice
    from tools.commands.telling import progress

    if kind not in KINDS:
        raise WrongChoice(f"no kind {kind!r} to identify; {advice(kind, KINDS)}")
    if bus is not None and not tendons_off:
        raise WrongChoice("take the tendons of these motors off their spools, then say --tendons-off")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, plant=plant, mismatch=mismatch, seed=seed, port_base=port_base
    )
    read = read_hand(options)
    motors = _motors(read, parts or [])
    begun = time.monotonic()
    try:
        with progress(f"identify {kind}") as told:
            measured = measure(read, options, motors, told.share if told is not None else lambda _: None)
    except Faulted as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(3) from None
    fits = fits_of(read, measured, motors)
    folder = _folder(out, kind, read.name)
    rows = parts_of(kind, fits)
    patch = patch_of(kind, fits, f"identified: {time.strftime('%Y-%m-%d')} run {folder.name}")
    result = _result(kind, read, folder, time.monotonic() - begun, measured.seconds, rows)
    _write(folder, result, patch, fits, measured, read, motors)
    if as_json:
        print(json.dumps(result))
    else:
        _show(result)
    raise typer.Exit(int(any(row.verdict != "good" for row in rows)))


def _result(
    kind: str, hand: Any, folder: Path, seconds: float, simulated_s: float, rows: list[Any]
) -> dict[str, Any]:
    """What ``--json`` says."""
    return {
        "command": f"identify {kind}",
        "hand": hand.name,
        "hand_file": hand.file.path,
        "hand_sha256": hand.sha256,
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
        "seconds": seconds,
        "simulated_s": simulated_s,
        "parts": [row.as_dict() for row in rows],
        "patch": str(folder / "patch.toml"),
        "report": str(folder / "report.html"),
        "notices": [],
    }


def _motors(hand: Any, parts: list[str]) -> list[int]:
    """Indices of the motors that are meant by names of motors and fingers; all without names."""
    from signals.choices import WrongChoice, advice

    names, m = hand.names, hand.model[0]
    if not parts:
        return list(range(len(names.motors)))
    found: list[int] = []
    for part in parts:
        if part in names.motors:
            found.append(names.motors.index(part))
        elif part in names.fingers:
            f = names.fingers.index(part)
            tendons = m["finger_tendon"][f][: m["finger_n_tendons"][f]]
            found += [int(m["tendon_motor"][t]) for t in tendons]
        else:
            legal = (*names.motors, *names.fingers)
            raise WrongChoice(f"{part!r} is no motor and no finger of {hand.name}; {advice(part, legal)}")
    return sorted(dict.fromkeys(found))


def _folder(out: Path | None, kind: str, hand: str) -> Path:
    from tools.commands.folder import free_folder, make_folder

    found = free_folder(out or Path(f"identify-{kind}-{hand}-{time.strftime('%Y%m%d-%H%M%S')}"))
    make_folder(found)
    return found


def _write(
    folder: Path, result: dict[str, Any], patch: str, fits: Any, measured: Any, hand: Any, motors: list[int]
) -> None:
    from calibration.run_folder import curves, page_of, save, save_raw

    constants = [float(hand.model[0]["motor_torque_constant_nm_a"][i]) for i in motors]
    save_raw(folder, measured, list(fits))
    save(folder, result, patch, page_of(result, fits, patch, curves(fits, measured, constants)))


def _show(result: dict[str, Any]) -> None:
    for part in sorted(result["parts"], key=lambda part: part["verdict"] != "good"):
        mark = "" if part["verdict"] == "good" else "NOT GOOD  "
        print(f"{part['name']:14} {part['parameter']:34} {mark}{part['text']}")
    print(f"\n{result['simulated_s']:.0f} s of motion in {result['seconds']:.0f} s; page {result['report']}")
    print(f"flexor apply {Path(result['report']).parent} --to HAND.toml writes it into a hand file")
