"""``flexor emulate``: the simulated hand behind emulated devices, for ``flexor run HAND --bus FILE``."""

from __future__ import annotations

import contextlib
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from signals.choices import WrongChoice

if TYPE_CHECKING:
    from hand.options import RunOptions
from tools.commands.options import Mismatch, Seed, TendonsOff

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor emulate hasy --bus-file hasy.toml

flexor run hasy --bus hasy.toml --motion open_close --for 10

flexor emulate finger_bench --wiring dynamixel --bus-file servos.toml

flexor emulate orca_v2_position --wiring orca_v2_position_servos --bus-file orca.toml
"""
VIEW = "Show the hand in the browser too, once flexor run drives it (extra 'view')."
PORT_BASE = 5600
"""Where the page looks for the hand: the default of flexor run."""
MARK = "# Written by flexor emulate, removed as it ends.\n"
"""First line of every bus file of an emulation."""
LEAST_STEP_SHARE = 0.5
"""Shortest step of the plant, as a share of its period."""
NICE = -10
"""Devices do not wait for other programs; as far as that is granted, neither do these."""


@app.command(epilog=EXAMPLES)
def emulate(
    hand: Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")],
    wiring: Annotated[
        str, typer.Option(help="collector, dynamixel, odrive, a package's, or a bus file.")
    ] = "collector",
    bus_file: Annotated[Path, typer.Option(help="Where the bus file is written.")] = Path("bus.toml"),
    host: Annotated[str, typer.Option(help="Address of the board or bus server.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Its port; 0: a free one.")] = 0,
    servo: Annotated[str, typer.Option(help="Model of the emulated servos (dynamixel).")] = "xm430-w210",
    seconds: Annotated[float | None, typer.Option("--for", help="Length of the emulation [s].")] = None,
    sensors: Annotated[str, typer.Option(help="ideal, quantised or full.")] = "full",
    guides: Annotated[str, typer.Option(help="ideal or friction.")] = "friction",
    mismatch: Mismatch = None,
    pretension: Annotated[float | None, typer.Option(help="Tension at the start pose [N].")] = None,
    fault: Annotated[list[str] | None, typer.Option(help="KIND:NAME@T, e.g. tendon-break:index_4@2.")] = None,
    tendons_off: TendonsOff = False,
    seed: Seed = 0,
    view: Annotated[bool, typer.Option("--view", help=VIEW)] = False,
    spin: Annotated[bool, typer.Option(help="Spin before due times: sharper wire time, one core.")] = False,
) -> None:
    """Run the plant in real time behind emulated devices; print how to reach them, write the bus file."""
    from hand.options import RunOptions

    options = RunOptions(
        hand=hand,
        sensors=sensors,
        guides=guides,
        mismatch=mismatch,
        pretension_n=pretension,
        faults=tuple(fault or ()),
        seed=seed,
        seconds=seconds,
    )
    if tendons_off:
        from hand.hand import read_tendon_hand

        off = tuple(f"tendon-off:{name}@0" for name in read_tendon_hand(options).names.tendons)
        options = replace(options, faults=options.faults + off)
    from tools.view.beside import page_beside

    with page_beside(view, PORT_BASE):
        _emulate(options, wiring, bus_file, {"host": host, "port": port, "servo": servo}, spin)


def _emulate(options: RunOptions, wiring: str, bus_file: Path, reach: dict[str, Any], spin: bool) -> None:
    from flexor.runs import EMULATION, announced
    from hand.hand import read_tendon_hand
    from runtime.busprocess.truth import TruthShare
    from runtime.realtime import go_before_others, quiet
    from runtime.setup import sim_bus
    from signals.records import TRUTH, new
    from sim.emulators.copied import wire_by
    from sim.emulators.loop import EmulatorLoop
    from sim.emulators.side import BackendSide
    from sim.emulators.wiring import Site

    known = read_tendon_hand(options)
    _spare(bus_file)
    truth = new(TRUTH)
    _warm(lambda: sim_bus(known, options, new(TRUTH)))
    step_ns = int(LEAST_STEP_SHARE * 1e9 / known.rate_hz)
    side = BackendSide(lambda: sim_bus(known, options, truth, wired=True), step_ns)
    with contextlib.ExitStack() as ending:
        folder = ending.enter_context(tempfile.TemporaryDirectory(prefix="flexor-"))
        site = Site(folder=Path(folder), **reach)
        share = TruthShare.create()
        ending.callback(share.unlink)
        wired = wire_by(wiring, side, known.names, site)
        loop = EmulatorLoop(wired.emulators, spin_ns=100_000 if spin else 0)
        ending.callback(loop.close)
        in_step = [emulator for emulator in wired.emulators if hasattr(emulator, "before_answer")]
        for emulator in in_step:
            emulator.before_answer = lambda: share.post(truth)
        head = f'{MARK}realtime = {"true" if wired.realtime else "false"}\ntruth = "{share.name}"\n\n'
        ending.callback(_remove, bus_file, head)
        bus_file.write_text(head + wired.text, encoding="utf-8")
        for endpoint in wired.endpoints:
            print(endpoint, flush=True)
        ending.enter_context(announced(EMULATION, known.name, places=" ".join(wired.endpoints)))
        words = ["flexor run", options.hand, "--bus", str(bus_file)]
        words += wired.run_words(float(known.model["tension_kp_nm_n"][0]), known.rate_hz)
        print(f"bus file {bus_file}; {' '.join(words)}", flush=True)
        if not side.positions:
            print("motors follow currents alone: the devices refuse their position modes", flush=True)
        if not in_step:
            loop.emulators.append(_TruthTimer(share, truth))
        with contextlib.suppress(OSError):
            go_before_others(NICE)
        with quiet():  # a collection would be 0.1 s in which no device answers
            _serve(loop, options.seconds)
    print(f"emulation ended; the latest answer came {loop.latest_ns * 1e-6:.1f} ms late", file=sys.stderr)


def _begins(bus_file: Path, head: str) -> bool:
    """Whether a file is there and begins so."""
    try:
        with bus_file.open(encoding="utf-8", errors="replace") as file:
            return file.read(len(head)) == head
    except OSError:
        return False


def _spare(bus_file: Path) -> None:
    """Refuse to write over a file that no emulation wrote: it would be deleted at the end."""
    if bus_file.exists() and not _begins(bus_file, MARK):
        text = f"--bus-file {bus_file} is there, and flexor emulate did not write it"
        raise WrongChoice(f"{text}; legal: a new file, or one that an emulation left")


def _remove(bus_file: Path, head: str) -> None:
    """Remove the bus file, unless another emulation has written its own over it."""
    if _begins(bus_file, head):
        bus_file.unlink(missing_ok=True)


def _warm(make: Any) -> None:
    """First calls of the plant on a plant of its own, so that nothing compiles while a client waits."""
    from signals.records import COMMAND, MEASUREMENT, new

    bus, command, measurement = make(), new(COMMAND), new(MEASUREMENT)
    for k in range(3):
        bus.exchange(command, measurement, (k + 1) * 1_000_000)


def _serve(loop: Any, seconds: float | None) -> None:
    """Serve until Ctrl-C, SIGTERM, the end of the terminal or of the time."""
    import threading

    from runtime.interrupts import ending_signals

    def stop(*_: Any) -> None:
        loop.stopping = True

    for number in ending_signals():
        signal.signal(number, stop)
    if seconds is not None:
        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
    loop.run()


class _TruthTimer:
    """Shows the truth every millisecond where no device answers in step with the loop."""

    PERIOD_NS = 1_000_000

    def __init__(self, share: Any, truth: Any) -> None:
        self._share, self._truth, self._due_ns = share, truth, 0

    def descriptors(self) -> list[int]:
        """None."""
        return []

    def readable(self, descriptor: int, now_ns: int) -> None:
        """Never."""

    def due_ns(self) -> int:
        """Next post."""
        return self._due_ns

    def on_time(self, now_ns: int) -> None:
        """Post."""
        self._due_ns = now_ns + self.PERIOD_NS
        self._share.post(self._truth)

    def close(self) -> None:
        """Nothing to release."""
