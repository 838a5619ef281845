"""docs/STDLIB.md is what its sources say."""

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_page_is_up_to_date():
    page = runpy.run_path(str(DOCS / "stdlib_page.py"))["page"]()
    assert (DOCS / "STDLIB.md").read_text(encoding="utf-8") == page


def test_every_function_has_a_description():
    page = (DOCS / "STDLIB.md").read_text(encoding="utf-8")
    assert "|  |" not in page
