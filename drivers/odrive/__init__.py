"""CAN drives that speak ODrive CANSimple."""
