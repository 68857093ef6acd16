r"""The loops of a finger as one linear sampled system: do its motions die away at the tensions of the hand?

About a pose at rest, with tendon stiffness k at its tension, coupling P and mass matrix M of the finger:

.. math::

    B \ddot\theta = \tau - R f - \gamma_3 \dot\theta, \qquad M \ddot q = -P^T f - D \dot q, \qquad
    f = k (R \theta + P q)

sampled exactly with the torque held over a period, and closed by the laws of ``mechanics.tension_loop``,
``motor_modes`` and ``joint_modes`` with their delay, speed filter and the sensor's low-pass. Dry friction is
left out: once a motor moves it damps nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from mechanics.collocated import CROSSOVER_HZ
from mechanics.coupling import tendon_jacobian
from mechanics.fingermass import finger_mass
from mechanics.springs import stiffness_of_force
from mechanics.tension_loop import scheduled_kp
from signals.layout import FloatArray
from signals.sizes import BODIES, FINGER_JOINTS, JOINTS, TENDONS

_NOTHING: Final = 1e-9
_TERMS: Final = 12
"""Terms of the exponential's series, of a matrix scaled to a norm below 1/2: exact to 1e-13."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """A finger about rest, tendon by tendon and joint by joint.

    Attributes:
        P: dh/dq [m/rad], shape (nt, nj).
        mass: mass matrix [kg m2], shape (nj, nj).
        viscous: joint friction [N m s/rad], shape (nj,).
        stiffness: of the tendons at their tension [N/m], shape (nt,).
        radius: of the spools [m], shape (nt,).
        inertia: of the motors at the spool [kg m2], shape (nt,).
        friction: viscous friction of the motors [N m s/rad].
        hall_hz: low-pass of the tension's sensor.
        dt_s: period.
        delay: periods from a measurement to the torque that answers it.
    """

    P: FloatArray
    mass: FloatArray
    viscous: FloatArray
    stiffness: FloatArray
    radius: FloatArray
    inertia: FloatArray
    friction: float
    hall_hz: float
    dt_s: float
    delay: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Gains of a mode; what is absent is zero.

    Attributes:
        tension: N m/N, shape (nt,).
        position: N m/rad of motor angle.
        damping: N m s/rad of motor speed.
        filter_hz: of the speed.
        impedance: N m/rad of the joints, shape (nj,).
        joint_damping: N m s/rad of the joints, shape (nj,).
    """

    tension: FloatArray
    position: float
    damping: float
    filter_hz: float
    impedance: FloatArray
    joint_damping: FloatArray

    def times(self, share: float) -> Law:
        """All gains larger by a factor."""
        return replace(
            self,
            tension=share * self.tension,
            position=share * self.position,
            damping=share * self.damping,
            impedance=share * self.impedance,
            joint_damping=share * self.joint_damping,
        )


def plant_of(model: Any, f: int, tension_n: float, hall_hz: float, delay: int) -> Plant:
    """Finger ``f`` of a model record (1,) in the straight pose, every tendon at one tension [N]."""
    m = model[0]
    tendons = [int(t) for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]]
    joints = [int(j) for j in m["finger_joint"][f, : m["finger_n_joints"][f]]]
    motors = [int(m["tendon_motor"][t]) for t in tendons]
    P, q, H = np.zeros((TENDONS, JOINTS)), np.zeros(JOINTS), np.zeros((FINGER_JOINTS, FINGER_JOINTS))
    tendon_jacobian(m, q, P)
    scratch = np.zeros((BODIES, 3, 3)), np.zeros((BODIES, 3)), np.zeros((BODIES, 6)), np.zeros(10)
    finger_mass(m, f, q, *scratch, H)
    n = len(joints)
    return Plant(
        P=P[np.ix_(tendons, joints)],
        mass=H[:n, :n].copy(),
        viscous=np.array(m["joint_viscous_nms_rad"][joints]),
        stiffness=np.array([stiffness_of_force(m, t, tension_n) for t in tendons]),
        radius=np.abs(m["spool_radius_m"][tendons]),
        inertia=np.array(m["motor_inertia_kg_m2"][motors]),
        friction=float(m["friction_gamma_3_nms_rad"][motors[0]]),
        hall_hz=hall_hz,
        dt_s=float(m["dt_s"]),
        delay=delay,
    )


def alone(inertia: float, dt_s: float, delay: int) -> Plant:
    """One body that no tendon holds, turned by its motor [kg m2]."""
    return Plant(
        P=np.zeros((1, 1)),
        mass=np.eye(1),
        viscous=np.ones(1),
        stiffness=np.full(1, _NOTHING),
        radius=np.ones(1),
        inertia=np.full(1, inertia),
        friction=0.0,
        hall_hz=1.0 / dt_s,
        dt_s=dt_s,
        delay=delay,
    )


def held(plant: Plant) -> Plant:
    """The same finger with its joints held from outside, as by a rigid object."""
    nj = plant.P.shape[1]
    return replace(plant, P=np.zeros_like(plant.P), mass=np.eye(nj), viscous=np.ones(nj))


def tension_gains(model: Any, stiffness: FloatArray) -> FloatArray:
    """Gains of the tension loop [N m/N] at stiffnesses [N/m], as the controller schedules them."""
    return np.array([scheduled_kp(model[0], k) for k in stiffness])


def growth_1_s(plant: Plant, law: Law) -> float:
    """Rate of the fastest growing motion of the closed loop [1/s]; negative: all die away; inf: no figure."""
    try:
        with np.errstate(all="ignore"):
            step = _closed(plant, law)
            radius = float(np.abs(np.linalg.eigvals(step)).max())
    except np.linalg.LinAlgError:  # figures so far apart that they have no inverse, or infinite ones
        return math.inf
    return math.log(max(radius, 1e-300)) / plant.dt_s


def exponential(a: FloatArray) -> FloatArray:
    """exp(a) by scaling and squaring, shape (n, n); infinities where it overflows."""
    norm = float(np.abs(a).sum(axis=1).max())
    if not math.isfinite(norm):
        return np.full_like(a, math.inf)
    halvings = max(0, math.ceil(math.log2(max(norm, 1e-300))) + 1)
    scaled = a / 2.0**halvings
    result = term = np.eye(len(a))
    for k in range(1, _TERMS + 1):
        term = term @ scaled / k
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


def _sampled(plant: Plant) -> tuple[FloatArray, FloatArray]:
    """Motion over one period of [theta, w, q, v, sensed tension] and the held torques, exactly."""
    nt, nj = plant.P.shape
    theta, w, q, v, sensed, torque = _slices(nt, nt, nj, nj, nt, nt)
    a = np.zeros((torque.stop, torque.stop))
    pull_theta, pull_q = np.diag(plant.stiffness * plant.radius), plant.stiffness[:, None] * plant.P
    a[theta, w], a[q, v] = np.eye(nt), np.eye(nj)
    for columns, pull in ((theta, pull_theta), (q, pull_q)):
        a[w, columns] = -(plant.radius / plant.inertia)[:, None] * pull
        a[v, columns] = -np.linalg.solve(plant.mass, plant.P.T @ pull)
        a[sensed, columns] = 2.0 * math.pi * plant.hall_hz * pull
    a[w, w] = np.diag(-plant.friction / plant.inertia)
    a[v, v] = -np.linalg.solve(plant.mass, np.diag(plant.viscous))
    a[sensed, sensed] = -2.0 * math.pi * plant.hall_hz * np.eye(nt)
    a[w, torque] = np.diag(1.0 / plant.inertia)
    e = exponential(a * plant.dt_s)
    return e[: torque.start, : torque.start], e[: torque.start, torque]


def _slices(*lengths: int) -> list[slice]:
    ends = np.cumsum(lengths)
    return [slice(int(end) - n, int(end)) for n, end in zip(lengths, ends, strict=True)]


def _closed(plant: Plant, law: Law) -> FloatArray:
    """One period of the loop on plant, last motor angles, filtered speeds, feedback, torques under way."""
    nt, nj = plant.P.shape
    move, drive = _sampled(plant)
    theta, _, q, _, sensed, last, speed, feedback, queue = _slices(
        nt, nt, nj, nj, nt, nt, nt, nj, nt * plant.delay
    )
    x = np.eye(queue.stop)
    wound = plant.radius[:, None] * x[theta]
    share = 1.0 - math.exp(-2.0 * math.pi * law.filter_hz * plant.dt_s)
    slow = 1.0 - math.exp(-2.0 * math.pi * CROSSOVER_HZ * plant.dt_s)
    inverse = np.linalg.pinv(plant.P)
    w = x[speed] + share * ((x[theta] - x[last]) / plant.dt_s - x[speed])
    measured = inverse @ (x[sensed] / plant.stiffness[:, None] - wound)
    angle = x[feedback] - inverse @ (plant.radius[:, None] * (x[theta] - x[last]))
    angle = angle + slow * (measured - angle)
    joint_speed = -inverse @ (plant.radius[:, None] * w)
    wanted = -law.impedance[:, None] * angle - law.joint_damping[:, None] * joint_speed
    tension = -inverse.T @ wanted
    torque = plant.radius[:, None] * tension + law.tension[:, None] * (tension - x[sensed])
    torque = torque - law.position * x[theta] - law.damping * w
    on_the_way = np.vstack([x[queue], torque])
    body = slice(0, sensed.stop)
    return np.vstack([move @ x[body] + drive @ on_the_way[:nt], x[theta], w, angle, on_the_way[nt:]])
