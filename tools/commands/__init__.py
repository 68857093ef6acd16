"""Commands of ``flexor``, one module each; imported only when the command is called."""
