"""The designer's calculator: what a hand's geometry gives, in figures of the laws that the hand runs on."""
