"""What several test files stand on: hands, devices, runs, drawn cases."""
