"""Running the suite of public problems by several solvers and judging what they say: `bench/suite.py` is its door."""
