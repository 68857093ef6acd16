"""Motion files: TOML tracks or a CSV trajectory -> tables over time, one row per channel of the goal."""
