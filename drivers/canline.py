"""Opening a CAN bus of python-can, with an error that says what to type."""

from __future__ import annotations

import errno
import socket
from typing import Any, Final

import can

from drivers.errors import BusLost

CONNECT_S: Final = 0.5
BITRATE: Final = 1_000_000
"""For hints, where the file does not say."""


def opened(
    name: str, place: str, arguments: dict[str, Any], bitrate: int = BITRATE, filters: Any = None
) -> can.BusABC:
    """An open bus.

    Args:
        name: name of the bus, for the error.
        place: where it is, for the error.
        arguments: of ``can.Bus``.
        bitrate: what the interface should be set to, for the hint.
        filters: ``can_filters``; None: everything.

    Raises:
        BusLost: with what is missing and what to type.
    """
    host, port = arguments.get("host"), arguments.get("port")
    try:
        if host is not None and port is not None:
            # python-can tries for ten seconds without a pause and prints each try
            socket.create_connection((host, port), CONNECT_S).close()
        return can.Bus(can_filters=filters, **arguments)
    except (OSError, ValueError, can.CanError, TimeoutError) as error:
        hint = hint_for(error, str(arguments["interface"]), str(arguments["channel"]), bitrate)
        raise BusLost(name, f"cannot open {place}: {error}", hint) from None


def hint_for(error: BaseException, interface: str, channel: str, bitrate: int = BITRATE) -> str:
    """What to do about an error of a CAN interface."""
    number = getattr(error, "errno", None) or getattr(error, "error_code", None)
    up = f"sudo ip link set {channel} up type can bitrate {bitrate} restart-ms 100"
    if interface == "socketcand":
        return f"start the server that offers {channel}, or correct its address"
    if interface != "socketcan":
        return "check driver and adapter of this back-end of python-can"
    if number == errno.EAFNOSUPPORT:
        return "this kernel has no SocketCAN: sudo modprobe can_raw (in a container: on its host)"
    if number == errno.ENODEV:
        return f"there is no interface {channel} (ip -brief link shows them): plug the adapter in, then {up}"
    if number == errno.ENETDOWN:
        return f"the interface is down: {up}"
    return up
