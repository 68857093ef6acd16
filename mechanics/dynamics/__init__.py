"""Dynamics of trees of rigid bodies: ABA, RNEA, CRBA, energy, integrators, batches.

Start at ``tree.py`` (bodies and joints become a checked ``Tree``), then ``aba.py``.
"""
