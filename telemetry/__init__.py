"""Who hears and says what? Shared memory, publishing, recording, the command server."""
