"""Chains of pendulums: a kind of mechanism, and a file of that kind."""
