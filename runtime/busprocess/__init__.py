"""Slow buses in processes of their own: the same driver, its newest record in shared memory."""
