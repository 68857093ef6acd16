"""Mechanisms of the source papers and others: file tables become equations with names, starts, a drawing.

One module per kind: its tables (units in the keys, unknown keys are errors) and their assembly. The files are
in ``configs/mechanisms``; ``sim.mechanisms.load`` reads them.
"""
