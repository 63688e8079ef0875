"""Work put to a service outside while nobody waits: its leases, and the loop that does it."""
