"""The page under its bar: picture, desk or player, curves; and the turn that brings them up to date."""

from __future__ import annotations

import math
import time
from typing import Any, Final

from tools.view.bar import Bar
from tools.view.commander import Commander
from tools.view.curves import Curves
from tools.view.desk import FOLLOW_S, Desk
from tools.view.player import Player
from tools.view.scene import Scene
from tools.view.source import Source
from tools.view.tape import Tape

RATE_HZ: Final = 30.0
CHART_S: Final = 0.25


class Page:
    """One page for all browsers that look at it.

    Args:
        server: viser's server.
        bar: over it.
        source: a hand, or what is played: a log, a simulated mechanism.
        commander: of a running hand; ``None`` for what is played.
    """

    def __init__(self, server: Any, bar: Bar, source: Source, commander: Commander | None) -> None:
        self._server, self._bar, self._source = server, bar, source
        gui, meta = server.gui, source.meta
        bar.name(meta["hand"])
        gui.set_panel_label(f"flexor: {meta['hand']}")
        self._desk: Desk | None = None
        self._player: Player | None = None
        if commander is not None:
            self._desk = Desk(server, meta, commander)
        elif isinstance(source, Tape):
            self._player = Player(gui, source)
        self.scene = Scene(server, meta)
        self._curves = Curves(gui, meta)
        with gui.add_folder("Show", expand_by_default=False):
            self._options(gui)
        self._followed_s = self._drawn_s = 0.0

    def _options(self, gui: Any) -> None:
        ghost = gui.add_checkbox("Wanted pose (blue ghost)", True)
        ghost.on_update(lambda _: setattr(self.scene, "ghost_shown", ghost.value))
        truth = gui.add_checkbox("True pose (green), in simulation", False)
        truth.on_update(lambda _: setattr(self.scene, "truth_shown", truth.value))
        loads = gui.add_checkbox("Loads at the fingertips (orange arrows)", True)
        loads.on_update(lambda _: setattr(self.scene, "loads_shown", loads.value))
        self._palm = gui.add_markdown("")
        gui.add_markdown(
            "Tendons: blue below the least tension, teal to amber inside their band, red at the limit."
        )
        gui.add_markdown(
            "Loads are what would hold the joints' torques in balance, from 1 N; 6 mm for each newton."
        )
        for sentence in self.scene.figure.missing:
            gui.add_markdown(f"Drawn as a capsule: {sentence}")

    def turn(self) -> None:
        """One update of everything that is due."""
        source, now = self._source, time.monotonic()
        source.take()
        view = source.view
        state = source.told
        self._bar.tell(state)
        if view is None:
            return
        with self._server.atomic():
            self.scene.show(view, source.faults)
        self._curves.add(view)
        if self._player is not None:
            self._player.follow()
        if now - self._followed_s > FOLLOW_S:
            self._followed_s = now
            if self._desk is not None:
                self._desk.follow(view, state.holder)
            self._tell_palm(view)
        if now - self._drawn_s > CHART_S:
            self._drawn_s = now
            self._curves.draw()

    def _tell_palm(self, view: dict[str, Any]) -> None:
        angles = self.scene.figure.palm_angles_rad(view["axis"])
        if angles is not None:
            pitch, yaw = (math.degrees(a) for a in angles)
            text = f"Palm: pitch **{pitch:.1f}** deg, yaw **{yaw:.1f}** deg"
            if self._palm.content != text:
                self._palm.content = text

    def run(self, until: float | None) -> None:
        """Turn 30 times a second, until a monotonic time or for ever."""
        due = time.monotonic()
        while until is None or due < until:
            self.turn()
            due = max(due + 1.0 / RATE_HZ, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
