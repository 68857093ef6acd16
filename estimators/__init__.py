"""Motor side to joint side: tension, joint angle, speed, belief in a channel."""
