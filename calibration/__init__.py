"""What are the figures of this hand? Procedures that measure them, fits, and the way back into the hand file."""
