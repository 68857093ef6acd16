"""Serial servos that speak Dynamixel protocol 2.0."""
