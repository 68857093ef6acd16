"""The page's desk for a running hand: take command, states, modes, sliders in legal ranges, record."""

from __future__ import annotations

import math
from typing import Any, Final

from tools.view.commander import Commander
from tools.view.motions import Motions, offered

_MODES: Final = ("joint_impedance", "tendon_force", "joint_torque", "motor_position", "off")
FOLLOW_S: Final = 0.25
"""How often sliders go to what is measured while the page does not move the hand."""
_STIFF: Final = 4.0


class Desk:
    """Controls of a running hand.

    Args:
        server: viser's server.
        meta: of the hand.
        commander: what the controls use.
    """

    def __init__(self, server: Any, meta: dict[str, Any], commander: Commander) -> None:
        self._gui, self._meta, self._commander = server.gui, meta, commander
        self._active = False
        self._joints: dict[str, Any] = {}
        self._axes: dict[str, Any] = {}
        self._under_lease: list[Any] = []
        self._rows: list[Any] = []  # of buttons: the library cannot disable those
        gui = self._gui
        command = gui.add_command("Stop the hand", hotkey="escape", description="Needs no lease.")
        command.on_trigger(lambda _: commander.stop())
        gui.add_button("STOP (Esc)", color="red").on_click(lambda _: commander.stop())
        self._take = gui.add_button("Take command", icon=None, color="blue")
        self._take.on_click(lambda _: commander.take(force=False))
        self._force = gui.add_button("Take it from its holder", color="orange", visible=False)
        self._force.on_click(lambda _: commander.take(force=True))
        self._back = gui.add_button("Give command back", visible=False)
        self._back.on_click(lambda _: self._give_back())
        self._motions = Motions(commander, self._tell_motion)
        self._states()
        with gui.add_folder("Fingers and wrist"):
            self._sliders()
        if meta["mechanism"] is None:
            with gui.add_folder("Motions", expand_by_default=False):
                self._play()
        with gui.add_folder("Mode and stiffness", expand_by_default=False):
            self._modes()
        with gui.add_folder("Record", expand_by_default=False):
            self._record()

    def _give_back(self) -> None:
        self._motions.halt()
        self._commander.give_back()

    def _states(self) -> None:
        gui, do = self._gui, self._commander.do
        row = gui.add_button_group("State", ("arm", "activate", "re-arm", "off"))
        acts: dict[str, Any] = {
            "arm": lambda c: c.arm(), "activate": lambda c: c.activate(),
            "re-arm": lambda c: c.rearm(), "off": lambda c: c.off(),
        }  # fmt: skip

        def act(event: Any) -> None:
            self._motions.halt()
            do(acts[event.target.value])

        row.on_click(act)
        self._rows.append(row)

    def _slider(self, name: str, low: float, high: float, start: float, step: float) -> Any:
        slider = self._gui.add_slider(name, low, high, step, min(max(start, low), high))
        self._under_lease.append(slider)
        return slider

    def _sliders(self) -> None:
        """A slider for each joint [deg] and, from the straight wrist on, each axis."""
        ranges, geometry, names = self._meta["ranges"], self._meta["geometry"], self._meta["names"]
        of, tabs = self._meta["finger_of_joint"], self._gui.add_tab_group()
        for finger in names["finger"]:
            joints = [joint for joint in names["joint"] if of.get(joint) == finger]
            if not joints:
                continue
            with tabs.add_tab(finger):
                for joint in joints:
                    low, high = (math.degrees(v) for v in ranges["joints"][joint])
                    self._joints[joint] = self._slider(joint, _up(low), _down(high), 0.0, 0.5)
                    self._joints[joint].on_update(lambda event, joint=joint: self._move(event, joint))
        if names["axis"]:
            with tabs.add_tab("wrist"):
                for axis, zero in zip(names["axis"], geometry["wrist_neutral_rad"], strict=True):
                    low, high = (math.degrees(v - zero) for v in ranges["axes"][axis])
                    self._axes[axis] = self._slider(axis, _up(low), _down(high), 0.0, 0.5)
                    self._axes[axis].on_update(
                        lambda event, axis=axis, zero=zero: self._turn(event, axis, zero)
                    )

    def _move(self, event: Any, joint: str) -> None:
        if event.client_id is not None and self._active:
            self._motions.halt()
            self._commander.do(lambda c: c.goal({joint: math.radians(event.target.value)}))

    def _turn(self, event: Any, axis: str, zero: float) -> None:
        if event.client_id is not None and self._active:
            self._motions.halt()
            self._commander.do(lambda c: c.goal(axes={axis: zero + math.radians(event.target.value)}))

    def _play(self) -> None:
        """Shipped motions, from where the hand is."""
        gui, has_palm = self._gui, self._meta["geometry"]["n_axes"] == 2
        which = gui.add_dropdown("Motion", offered(has_palm))
        row = gui.add_button_group("Play", ("play", "end"))
        self._motion_told = gui.add_markdown("")

        def act(event: Any) -> None:
            if event.target.value == "play":
                self._motions.play(which.value)
            else:
                self._motions.halt()

        row.on_click(act)
        self._rows.append(row)

    def _tell_motion(self, text: str) -> None:
        self._motion_told.content = text

    def _modes(self) -> None:
        gui, names, ranges = self._gui, self._meta["names"], self._meta["ranges"]
        who = gui.add_dropdown("Finger", ("all", *names["finger"]))
        mode = gui.add_dropdown("Mode", _MODES)
        mode.on_update(
            lambda event: (
                event.client_id is not None
                and self._commander.do(lambda c: c.mode(mode.value, "*" if who.value == "all" else who.value))
            )
        )
        stiff = self._slider("Impedance (x own)", 0.0, _STIFF, 1.0, 0.05)
        joints = [name for name in names["joint"] if ranges["impedances"][name][1] > 0.0]

        def stiffen(event: Any) -> None:
            if event.client_id is not None:
                share = event.target.value / _STIFF
                goal = {name: share * ranges["impedances"][name][1] for name in joints}
                self._commander.do(lambda c: c.goal(impedances=goal))

        stiff.on_update(stiffen)
        low = max(pair[0] for pair in ranges["pretension"].values())
        high = min(pair[1] for pair in ranges["pretension"].values())
        if high > low:
            own = float(self._meta["geometry"]["pretension_n"][0])
            common = self._slider("Pretension [N]", math.ceil(low), math.floor(high), own, 1.0)
            common.on_update(
                lambda event: (
                    event.client_id is not None
                    and self._commander.do(
                        lambda c: c.goal(pretension=dict.fromkeys(names["finger"], common.value))
                    )
                )
            )
        self._under_lease += [who, mode]

    def _record(self) -> None:
        gui, do = self._gui, self._commander.do
        row = gui.add_button_group("Log", ("start", "stop"))
        told = gui.add_markdown("")

        def record(event: Any) -> None:
            start = event.target.value == "start"
            file = do(lambda c: c.record.start() if start else c.record.stop())
            if file:
                told.content = f"{'recording into' if start else 'recorded:'} `{file}`"

        row.on_click(record)
        self._rows.append(row)

    def follow(self, view: dict[str, Any], holder: str) -> None:
        """Bring the controls up to what the hand is and does."""
        if self._commander.holds and holder and holder != self._commander.name:
            self._commander.lost()
        holds = self._commander.holds
        self._active = holds and int(view["machine"]) == 3
        _set(self._take, "visible", not holds)
        _set(self._force, "visible", not holds and bool(holder))
        _set(self._back, "visible", holds)
        for handle in self._under_lease:
            _set(handle, "disabled", not holds)
        for row in self._rows:
            _set(row, "visible", holds)
        if self._active and not self._motions.playing:
            return
        zeros = dict(
            zip(self._meta["names"]["axis"], self._meta["geometry"]["wrist_neutral_rad"], strict=True)
        )
        for sliders, angles in ((self._joints, view["pos"]), (self._axes, view["axis"])):
            for name, slider in sliders.items():
                angle = math.degrees(angles[name] - zeros.get(name, 0.0))
                if math.isfinite(angle):
                    angle = min(max(round(2.0 * angle) / 2.0, slider.min), slider.max)
                    if abs(slider.value - angle) >= 0.5:
                        slider.value = angle


def _set(handle: Any, what: str, value: Any) -> None:
    if getattr(handle, what) != value:
        setattr(handle, what, value)


def _up(value: float) -> float:
    return math.ceil(2.0 * value - 1e-9) / 2.0


def _down(value: float) -> float:
    return math.floor(2.0 * value + 1e-9) / 2.0
