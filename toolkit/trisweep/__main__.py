"""`python -m trisweep` is the command `trisweep`."""

import sys

from .command_line import main

sys.exit(main())
