"""Bend one joint of a running hand and straighten it: start `flexor run finger_bench` first."""

import flexor

with flexor.Hand("127.0.0.1") as hand, hand.control("send_goal example") as control:
    joint = hand.names("joint")[-2]
    control.activate()
    control.move({joint: 0.6}, seconds=1.0)
    print(f"{joint} is at {hand.view().pos[joint]:.3f} rad, wanted 0.600")
    control.move({joint: 0.0}, seconds=1.0)
