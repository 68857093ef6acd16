"""A command of its own for flexor."""
