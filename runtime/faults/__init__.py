"""Fault trials: one fault in a moving hand, judged by what truly happened (docs/faults.md)."""
