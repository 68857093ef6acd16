"""Goal and state to the command: modes, distribution, feedforward, references."""
