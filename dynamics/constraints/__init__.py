"""What a constraint demands of the bodies: rows on the ground, loops between bodies, how far they are from closed."""
