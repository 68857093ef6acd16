"""What stands first on the page: how the hand is, in a sentence, who commands it, and the way to stop it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Final

from signals.modes import MachineState

COLOURS: Final = {
    "fault": "#d3202f", "gone": "#8a4b00", "active": "#12813f", "holding": "#9a6a00", "ready": "#1d63b8",
    "off": "#4a5260", "log": "#5b3fa8", "waiting": "#3d5a78",
}  # fmt: skip
_KEY: Final = "new KeyboardEvent('keydown',{key:'Escape',code:'Escape',bubbles:true})"
_PRESS: Final = f"document.documentElement.dispatchEvent({_KEY})"
CATCH: Final = (
    "if(!window.flexorStop){window.flexorStop=1;window.addEventListener('keydown',e=>{if(e.key==='Escape'"
    f"&&e.target!==document.documentElement){{e.stopImmediatePropagation();{_PRESS}}}}},true)}}"
)
"""The page's own hot keys do not work while a field has the focus; the stop's must.

By name: in the handler of an element, ``addEventListener`` alone is the element's own."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a hand is.

    Attributes:
        kind: key of ``COLOURS``.
        head: state in a word or two.
        text: one sentence.
        hint: what to do next; may be empty.
        more: further faults.
        holder: who commands; empty: nobody. Of what is played: what it is; empty: a log.
    """

    kind: str
    head: str
    text: str
    hint: str = ""
    more: tuple[str, ...] = ()
    holder: str = ""


_SAYS: Final = {
    "off": ("The motors are off.", "take command, then activate"),
    "ready": ("The hand is ready; the motors are off.", "take command, then activate"),
    "holding": ("The hand holds the pose where it is.", ""),
    "active": ("The hand follows its goal.", ""),
    "fault": ("The hand is in fault.", "look at its events, then re-arm"),
}


def told(view: dict[str, Any] | None, health: dict[str, Any], age_s: float, stale_s: float) -> Told:
    """How the hand is, from what it publishes: silence first, then faults, then its state."""
    holder = str(health.get("lease", {}).get("holder", ""))
    if view is None:
        return Told("gone", "no hand", "Nothing comes from the hand.", "start one: flexor run HAND")
    if age_s > stale_s:
        hint = "the run has ended, or its computer is overloaded"
        return Told(
            "gone", "silent", f"Nothing has come for {age_s:.0f} s; this is the past.", hint, (), holder
        )
    faults = health.get("latched", [])
    machine = MachineState(int(view["machine"])).name.lower()
    if faults:
        first, rest = faults[0], tuple(f["text"] for f in faults[1:])
        head = f"fault: {first['finger']}" if first["finger"] else "fault"
        return Told("fault", head, first["text"], first["hint"], rest, holder)
    text, hint = _SAYS[machine]
    return Told(machine, machine, text, "" if holder else hint, (), holder)


def waiting(place: str, starting: str) -> Told:
    """A hand that has not spoken yet.

    Args:
        place: where it is expected.
        starting: name of the hand that starts there; empty: none is known.
    """
    if starting:
        return Told("waiting", "starting", f"{starting} starts; it appears here as soon as it speaks.")
    text = f"No hand speaks at {place} yet; it appears here as soon as one does."
    return Told("waiting", "no hand yet", text, "start one: flexor run HAND")


def html(state: Told, hand: str, stoppable: bool) -> str:
    """The banner: a bar over the whole page, and the room that it takes in the panel."""
    text = escape(state.text)
    hint = f'<span class="fx-hint">Next: {escape(state.hint)}.</span>' if state.hint else ""
    more = "".join(f'<div class="fx-more">{escape(line)}</div>' for line in state.more[:3])
    if len(state.more) > 3:
        more += f'<div class="fx-more">and {len(state.more) - 3} more</div>'
    who = f"commanded by {state.holder}" if state.holder else "nobody commands"
    stop = f'<button id="fx-stop" title="Escape" onclick="{_PRESS}">STOP<small>Esc</small></button>'
    return (
        f"<style>{_CSS}</style>"
        f'<div id="fx-banner" data-kind="{state.kind}" style="background:{COLOURS[state.kind]}">'
        f'<div class="fx-head"><b>{escape(state.head)}</b><span>{escape(hand)}</span>'
        f'<span class="fx-who">{escape(who if stoppable else state.holder or "a log")}</span></div>'
        f'<div class="fx-text"><div><span class="fx-say">{text}</span> {hint}</div>{more}</div>'
        f'{stop if stoppable else ""}</div><div id="fx-room"></div>'
        f'<img alt="" src="data:," style="display:none" onerror="{CATCH}">'
    )


_CSS: Final = """
#fx-banner{position:fixed;top:0;left:0;right:0;z-index:4000;color:#fff;display:flex;align-items:center;gap:18px;
padding:8px 14px;min-height:52px;box-sizing:border-box;font:14px/1.35 system-ui,sans-serif;
box-shadow:0 2px 10px rgba(0,0,0,.45)}
#fx-banner .fx-head{display:flex;flex-direction:column;min-width:116px}
#fx-banner .fx-head b{font-size:17px;text-transform:uppercase;letter-spacing:.04em}
#fx-banner .fx-head span{font-size:11.5px;opacity:.85}
#fx-banner .fx-text{flex:1;min-width:0}
#fx-banner .fx-say{font-size:16px;font-weight:600}
#fx-banner .fx-hint{opacity:.92}
#fx-banner .fx-more{font-size:12.5px;opacity:.9}
#fx-room{height:26px}
.mantine-Notifications-root{top:84px!important}
#fx-stop{background:#fff;color:#c00;border:3px solid #c00;outline:2px solid #fff;border-radius:8px;
font:800 18px/1 system-ui,sans-serif;padding:9px 20px;cursor:pointer;display:flex;flex-direction:column;
align-items:center;gap:2px}
#fx-stop small{font:600 10px/1 system-ui,sans-serif;color:#555}
#fx-stop:hover{background:#ffe3e3}
@media (max-width:700px){#fx-room{height:0}#fx-banner{gap:10px;padding:6px 10px}
#fx-banner .fx-head{min-width:0}#fx-banner .fx-say{font-size:14px}
#fx-banner .fx-head b{font-size:14px}#fx-stop{padding:9px 12px;font-size:15px}}
"""
