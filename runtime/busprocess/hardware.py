"""The bus of a run by its bus file, checked against the hand; the truth of an emulated hand beside it."""

from __future__ import annotations

from drivers.hal import Bus, MotorSetup
from hand.file.busfile import load_bus_file
from runtime.busprocess.opening import check_capable, open_buses
from runtime.busprocess.truth import TruthShare, TruthTap
from signals.names import HandNames
from signals.records import RecordArray


def check_bus_file(name_or_path: str, names: HandNames) -> None:
    """Read a bus file and compare it with a hand without opening anything.

    Raises:
        BusFileError: with every problem.
    """
    load_bus_file(name_or_path).fitted_to(names)


def hardware_bus(
    name_or_path: str,
    names: HandNames,
    setups: tuple[MotorSetup, ...],
    rate_hz: float,
    truth: RecordArray,
    readonly: bool = False,
) -> Bus:
    """Open the buses of a file for a run.

    Args:
        name_or_path: bus file, or its name in ``configs/buses``.
        names: names of the hand.
        setups: what ``configure`` will write, to refuse early what a bus cannot do.
        rate_hz: rate of the loop.
        truth: TRUTH record of the frame, shape (1,); filled only by an emulated hand.
        readonly: watch the buses, never write.

    Raises:
        DriverError: naming bus and reason.
    """
    file = load_bus_file(name_or_path)
    bus = open_buses(file, names, readonly)
    try:
        check_capable(bus, setups, rate_hz)
        if file.truth:
            return TruthTap(bus, TruthShare.attach(file.truth), truth)
    except (OSError, ValueError) as error:
        bus.close()
        raise file.refusal(f"truth: {error} (is flexor emulate still running?)") from None
    except BaseException:
        bus.close()
        raise
    return bus
