"""The terminal screen of a running hand: what it says, its pages, its keys."""
