"""What people type: commands, doctor, deploy."""
