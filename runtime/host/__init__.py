"""Facts of the machine that a run and the doctor ask for: kernel, /proc, /sys."""
