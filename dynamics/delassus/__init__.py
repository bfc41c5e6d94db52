"""The Delassus matrix J M^-1 J' by the six methods of Sathya 2024a and Sathya 2024b, in body frames."""
