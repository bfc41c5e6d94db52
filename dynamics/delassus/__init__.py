"""The Delassus matrix J M^-1 J', the inverse operational-space inertia, by the six methods of 000 and 002; body frames."""
