"""Answers in files, and what is read back from them."""
