"""The README's quickstart, copied as it stands."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_quickstart_works_as_it_stands(tmp_path):
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert block.startswith("import trisweep as ts\n") and len(block.splitlines()) <= 20
    (tmp_path / "quickstart.py").write_text(block)
    run = subprocess.run([sys.executable, "quickstart.py"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("solved: ") and not run.stderr
    assert (tmp_path / "reach.png").read_bytes().startswith(b"\x89PNG")
