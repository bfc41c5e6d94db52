"""The shapes of bodies and of the scene around them, and the distances between them."""
