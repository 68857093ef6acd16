"""Device tables of servos that flexor does not ship: files alone, no code."""
