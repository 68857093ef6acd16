"""Files that make a machine ready: udev rule, limits, systemd unit. Written for review, never installed."""
