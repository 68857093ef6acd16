"""A box of motor drives and Hall inputs behind UDP: driver family and emulator."""
