"""What the control process leaves in shared memory: ring of frames, statistics, heartbeats, goal mailbox."""
