"""The command server: requests of clients, their lease, their goal."""
