"""Devices that do not exist: emulated servos, drives, boards on their true wires."""
