"""What is said of a robot in space: where a link is to be, what it keeps away from."""
