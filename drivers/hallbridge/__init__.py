"""Microcontroller that streams Hall channels over a serial line."""
