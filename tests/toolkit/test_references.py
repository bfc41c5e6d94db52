"""Every paper that a source cites stands in docs/references.md, under the key by which it is cited; files that a page
names are there.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("native", "riccati", "adjoint", "dynamics", "drawing", "ocp", "problems")
SOURCES = sorted(
    path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".hpp", ".cpp")
) + sorted((ROOT / "docs").glob("*.md"))
FILES = [
    path for path in ROOT.rglob("*.*") if path.suffix in (".py", ".hpp", ".cpp", ".md") and ".venv" not in path.parts
]
NAME = r"[A-Z][^\W\d_]+(?:-[A-Z][^\W\d_]+)?"
CITATION = re.compile(rf"((?:{NAME}(?:, | and ))*{NAME})\s\(?((?:19|20)\d\d[a-z]?)\b")
KEYS = set(re.findall(r"^\| (\S.*?\d{4}[a-z]?) \|", (ROOT / "docs/references.md").read_text(), flags=re.MULTILINE))


def citations(path: Path) -> set[str]:
    text = re.sub(r"\s*\n\s*(?://)?\s*", " ", path.read_text())
    return {f"{who} {year}" for who, year in CITATION.findall(text)}


def test_there_are_papers_and_citations():
    assert len(KEYS) > 25
    assert "Sathya 2024a" in citations(ROOT / "dynamics/constrained/pv.py")
    assert "Wächter and Biegler 2006" in citations(ROOT / "native/src/interior_point/barrier/barrier.hpp")


@pytest.mark.parametrize("path", [p for p in SOURCES if citations(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_citations_resolve(path):
    assert not citations(path) - KEYS, "cited, but not in docs/references.md"


def test_no_paper_is_cited_by_a_number():
    results = [path for path in (ROOT / "bench/results").iterdir() if path.suffix in (".md", ".txt")]
    for path in [*SOURCES, *results]:
        assert not re.search(r"\b00[0-4] (Sec|Alg|eq|Table|Fig)|\(00[0-4]\b|\s00[0-4]\n", path.read_text()), path


PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")} - {ROOT / "CHANGELOG.md"})  # that is of the past


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_files_that_a_page_names_are_there(path):
    names = re.findall(r"`([\w/]+\.(?:py|hpp|cpp|md))`", path.read_text())
    missing = [name for name in names if not any(found.match(name) for found in FILES)]
    links = re.findall(r"\]\((?!http)([^)#]+)", path.read_text())
    missing += [link for link in links if not (path.parent / link).exists()]
    assert not missing
