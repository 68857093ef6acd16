"""Bytes <-> SI on the motor side; knows no joints."""
