"""Files of ablations/documents/ that are wrong are named. `gonn check` compares them with the cards."""

import pytest

from ablations.coverage import load_coverage
from gonn_core.errors import SettingError


@pytest.mark.parametrize(
    "text, problem",
    [
        ("document: cazenave_2017\nsections: [{heading: a}]\n", "sections.0={.*}: give cards, or "),
        (
            "document: cazenave_2017\nsections: [{heading: a, cards: [x], nothing: y}]\n",
            "sections.0={.*}: give cards, or ",
        ),
        (
            "document: gonn_sandbox\nsections: []\n",
            "document=gonn_sandbox: differs from the file's name; valid: cazenave_2017",
        ),
    ],
)
def test_bad_files_are_named(tmp_path, text, problem):
    (tmp_path / "cazenave_2017.yaml").write_text(text)
    with pytest.raises(SettingError, match=f"^documents/cazenave_2017.yaml.{problem}"):
        load_coverage(tmp_path)
