"""Plants side by side: each is the single bus, bit by bit, whoever its neighbours are."""

import numpy as np
import pytest

from signals.choices import WrongChoice
from signals.modes import FaultKind, MotorMode
from signals.records import COMMAND, MEASUREMENT, new
from sim.backend import SimulatedBus
from sim.batch import Batch
from sim.finite import MOTOR
from sim.options import Fault, SimOptions
from tests.rigs.bench_hand import model

PERIODS = 60


def torques(k: int, n: int) -> np.ndarray:
    """Currents [A] of plant ``k``, shape (n,)."""
    current: np.ndarray = 0.5 * np.sin(1.0 + k + np.arange(n))
    return current


def alone(k: int, options: SimOptions) -> tuple[bytes, bytes]:
    """The same plant behind its own bus, with one exchange for each period."""
    one = model().copy()
    seeded = SimOptions(
        seed=options.seed + k, sensors=options.sensors, guides=options.guides, substeps=options.substeps
    )
    bus, command, measurement = SimulatedBus(one, seeded), new(COMMAND), new(MEASUREMENT)
    n = int(one["n_motors"][0])
    bus.activate()
    bus.exchange(command, measurement, 0)
    command["motor_mode"][0, :n] = int(MotorMode.CURRENT)
    command["motor_current_a"][0, :n] = torques(k, n)
    for period in range(1, PERIODS + 1):
        bus.exchange(command, measurement, round(period * 1e9 * float(one["dt_s"][0])))
    return measurement.tobytes(), bus.truth.tobytes()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("cycles", [1, 7, PERIODS])
def test_plants_side_by_side_are_single_ones_bit_by_bit(threads: int, cycles: int) -> None:
    options = SimOptions(seed=5)
    with Batch(model(), options, plants=3, threads=threads) as batch:
        n = int(batch.plants[0].model["n_motors"][0])
        batch.command["motor_mode"][:, :n] = int(MotorMode.CURRENT)
        for k in range(len(batch)):
            batch.command["motor_current_a"][k, :n] = torques(k, n)
        done = 0
        while done < PERIODS:
            step = min(cycles, PERIODS - done)
            batch.step(step)
            done += step
        found = [(batch.measurement[k].tobytes(), batch.truth[k].tobytes()) for k in range(len(batch))]
    assert found == [alone(k, options) for k in range(3)]
    assert found[0] != found[1]


def test_a_plant_that_diverges_stands_and_its_neighbours_go_on() -> None:
    models = np.repeat(model(), 2)
    with Batch(models, SimOptions()) as batch:
        batch.step(3)
        batch.plants[1].plant["w_rad_s"][0, 2] = np.nan
        for _ in range(19):
            batch.step(3)
        assert list(batch.diverged) == [0, MOTOR]
        assert batch.plants[1].plant["diverged_index"][0] == 2
        time_s = batch.truth["time_s"]
        assert time_s[0] == pytest.approx(60 * float(models["dt_s"][0]))
        assert time_s[1] < time_s[0]


def test_what_a_batch_does_not_do_is_refused() -> None:
    fault = Fault(kind=FaultKind.TENDON_BREAK, index=0, time_s=0.1)
    for options, words in (
        (SimOptions(realtime=True), {}),
        (SimOptions(faults=(fault,)), {}),
        (SimOptions(), {"plants": 0}),
        (SimOptions(), {"threads": 0}),
    ):
        with pytest.raises(WrongChoice):
            Batch(model(), options, **words)
    with pytest.raises(WrongChoice, match="3 plants and 2 models"):
        Batch(np.repeat(model(), 2), SimOptions(), plants=3)
    with Batch(model(), SimOptions()) as batch, pytest.raises(WrongChoice):
        batch.step(0)
