"""Talk to a running hand from any program: watch it, send goals, stop it.

import flexor

with flexor.Hand("127.0.0.1") as hand:
    for view in hand.watch():
        print(view.tension["index_1"])

with flexor.Hand() as hand, hand.control("my script") as control:
    control.activate()
    control.move({"index_pip": 0.6}, seconds=1.0)
"""

from flexor.client import Hand
from flexor.control import Control
from flexor.errors import HandError, HandSilent, Refused, SchemaMismatch
from flexor.following import Following
from flexor.stream import Stream
from flexor.views import View

__all__ = [
    "Control",
    "Following",
    "Hand",
    "HandError",
    "HandSilent",
    "Refused",
    "SchemaMismatch",
    "Stream",
    "View",
]
