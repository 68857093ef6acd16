"""A tendon hand on a mechanism that carries it: one tree, one plant."""
