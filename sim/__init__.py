"""A hand that does not exist: plant, other mechanisms, device emulators."""
