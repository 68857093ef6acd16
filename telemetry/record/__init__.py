"""The log: written, read, and saved where it is damaged."""
