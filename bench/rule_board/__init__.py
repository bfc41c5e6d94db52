"""The parts of `bench/iterations.py`: rules, trials, and the board that is made of them."""
