"""What the fuzzers share."""

import warnings

import numpy as np
import pytest


@pytest.fixture
def quiet():
    """Junk may be warned of as well as answered."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
