"""What people type: commands, doctor, deploy."""

import runtime as runtime  # refuses to start when a file beside the user's script hides a room
