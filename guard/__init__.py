"""May this command go out? Detectors, state machine, reactions, limits: what stops a hand."""
