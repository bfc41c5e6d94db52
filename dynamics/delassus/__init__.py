"""The Delassus matrix J M^-1 J' by the six methods of 000 and 002, in body frames."""
