"""``flexor scan udp:HOST:PORT``: does a box answer there?"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Final

import numpy as np

from drivers.family import Finding, Search
from drivers.places import UdpPlace
from labbox import codec

ASK_S: Final = 0.3


def find(place: UdpPlace) -> Iterator[Finding]:
    """The box at an address. A request without motors asks for nothing and feeds no watchdog."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(ASK_S)
        line.connect((place.host, place.port))
        nothing = np.zeros(0)
        try:
            line.send(codec.request(0, nothing, nothing))
            found = codec.replied(line.recv(codec.LONGEST), 0, 0)
        except OSError:
            return
    if found is not None:
        yield Finding(family="lab-box", place=str(place), device="lab box", detail=f"boot {found.boot}")


SEARCH: Final = Search(place=UdpPlace, find=find)
