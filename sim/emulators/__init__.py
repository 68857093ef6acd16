"""Room of flexor; see docs/architecture.md."""
