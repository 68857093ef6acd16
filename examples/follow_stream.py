"""Let a hand follow a stream of poses, as from a glove: start `flexor run finger_bench` first."""

import math
import time

import flexor

RATE_HZ = 60.0


def glove(t: float) -> float:
    """Stands for your device: the angle [rad] of one joint at a time [s]."""
    return 0.5 - 0.4 * math.cos(2.0 * t)


with flexor.Hand("127.0.0.1") as hand, hand.control("glove") as control:
    joint = hand.names("joint")[-2]
    with control.stream(RATE_HZ) as stream:  # the hand goes over to the first poses within a second
        begun = time.monotonic()
        while (t := time.monotonic() - begun) < 6.0:
            try:
                following = stream.send(t, {joint: glove(t)})
            except flexor.Refused as refused:
                if refused.code not in ("no_stream", "not_active"):
                    raise
                stream.engage()  # the device was silent for too long: begin again from where the hand is
            time.sleep(1.0 / RATE_HZ)
        print(
            f"{joint} follows {1000 * following.delay_s:.0f} ms later, {following.late} poses came too late"
        )
