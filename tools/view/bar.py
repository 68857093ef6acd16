"""The bar over the page: how the hand is, in a sentence, and the way to stop it; there before the hand is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tools.view.banner import Told, html
from tools.view.commander import Commander


class Bar:
    """Head of one page for all browsers that look at it.

    Args:
        server: viser's server.
        commander: of a hand; ``None`` for what is played.
    """

    def __init__(self, server: Any, commander: Commander | None) -> None:
        self._server, self._stoppable = server, commander is not None
        gui = server.gui
        gui.configure_theme(dark_mode=True, show_logo=False, show_share_button=False, control_width="medium")
        gui.main_panel.dock_right()
        server.scene.set_background_image(_background())
        self._hand = self._html = ""
        self.name("")
        self._banner = gui.add_html("")
        if commander is not None:
            gui.add_command("Stop the hand", hotkey="escape", description="Needs no lease.").on_trigger(
                lambda _: commander.stop()
            )
            gui.add_button("STOP (Esc)", color="red").on_click(lambda _: commander.stop())

    def name(self, hand: str) -> None:
        """Whose page it is; empty: not known yet."""
        self._hand = hand
        self._server.gui.set_panel_label(f"flexor: {hand}" if hand else "flexor")

    def tell(self, state: Told) -> None:
        """Say how the hand is, at once."""
        text = html(state, self._hand, self._stoppable)
        if text != self._html:
            self._html = self._banner.content = text
            self._server.flush()


def _background() -> Any:
    top, low = np.array((24, 29, 38)), np.array((44, 52, 66))
    share = np.linspace(0.0, 1.0, 64)[:, None, None]
    return np.broadcast_to((top + share * (low - top)).astype(np.uint8), (64, 2, 3)).copy()
