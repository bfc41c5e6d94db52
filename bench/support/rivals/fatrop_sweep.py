"""FATROP's sweep alone, as well as it can be built (`fatrop_sweep.cpp`), in the folders of `tuned_hpipm.py`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp

from trisweep.riccati import LQProblem

from .tuned_hpipm import Size, TunedPrograms, folders


class TunedFatrop(TunedPrograms):
    """FATROP of all folders; of none where there is no C++ compiler."""

    def __init__(self, problems: dict[Size, LQProblem]):
        super().__init__([program(place) for place in folders() if shutil.which("c++")], problems)


def program(place: Path) -> Path:
    """The program, compiled beside the FATROP of a folder."""
    made, libraries = Path(mkdtemp()) / "fatrop_sweep", place / "inst/lib"
    source = Path(__file__).parent / "fatrop_sweep.cpp"
    link = ["-L", libraries, "-lfatrop", "-lblasfeo", f"-Wl,--disable-new-dtags,-rpath,{libraries}"]
    subprocess.run(["c++", "-std=c++17", "-O3", "-I", place / "inst/include", source, "-o", made, *link], check=True)
    return made
