"""Ready tasks: a statement each, with the numbers that a solve of it needs."""
