"""What are the figures of this hand? Procedures that measure, fits, and the way into the hand file."""
