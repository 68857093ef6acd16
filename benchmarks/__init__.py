"""Plain scripts that measure this project against its peers, always interleaved in one run."""
