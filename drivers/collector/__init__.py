"""Ethernet collector: one board for all motors and Hall sensors, one datagram each way per cycle."""
