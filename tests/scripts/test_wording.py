"""Avoided words of CONTRIBUTING.md are found in pages, docstrings and comments, not in code."""

from scripts import wording


def test_avoided_words_are_found_with_their_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(wording, "ROOT", tmp_path)
    (tmp_path / "CONTRIBUTING.md").write_text(
        "# A\n\n## Words\n\n| avoid | write |\n|---|---|\n| `whence`, plain | source |\n"
    )
    (tmp_path / "page.md").write_text("Fine.\nWhence it came, `whence` in code, plain.\n")
    (tmp_path / "module.py").write_text('"""First line.\n\nWhence."""\n\nwhence = "plain"  # whence\n')
    words = wording.word_list()
    assert words == {"whence": "source"}
    lines = [
        line
        for name in ("page.md", "module.py", "CONTRIBUTING.md")
        for line in wording.findings(tmp_path / name, words)
    ]
    assert [line.split(": ")[0] for line in lines] == ["page.md:2", "module.py:3", "module.py:5"]


def test_the_list_of_this_repository_has_words():
    assert wording.word_list()["whence"] == "source, from where"
