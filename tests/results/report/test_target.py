"""What is written does not destroy what a user wrote."""

from pathlib import Path

import pytest

from autotune.errors import InputError
from autotune.results.page import page_file


@pytest.mark.parametrize("text", ["int main(void) { return 0; }\n", "<p>", "\x00\x01"])
def test_a_file_that_is_no_page_is_refused(tmp_path: Path, text: str) -> None:
    target = tmp_path / "solver.c"
    target.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="not an HTML page"):
        page_file.check(target)
    assert target.read_text(encoding="utf-8") == text


def test_a_page_an_empty_file_and_a_new_name_are_taken(tmp_path: Path) -> None:
    old = tmp_path / "page.html"
    old.write_text("<!DOCTYPE html>\n<html>", encoding="utf-8")
    page_file.check(old)
    (tmp_path / "empty").touch()
    page_file.check(tmp_path / "empty")
    page_file.check(tmp_path / "new.html")
    with pytest.raises(InputError, match="a folder"):
        page_file.check(tmp_path)
