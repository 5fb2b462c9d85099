"""Text from files is inert in markdown wherever a page puts it, and stays readable: held against markdown-it-py."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gonn_core.errors import markdown_escape, printable

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
SIGNS = st.text(alphabet="ab1 _*`[]()#+-!|~<>&;:=\\.{}$^x\"'/", max_size=24)
ANY = st.text(max_size=40)
PLACES = {
    "a paragraph": "{}",
    "an item": "- {}",
    "a heading": "# {}",
    "a bold line": "**x {} y**",
    "a cell": "| h | i |\n| --- | --- |\n| {} | k |",
    "the text of a link": "[{}](there)",
    "before a command": "- x {}: `make`",
}


def told(markdown: str) -> tuple[str, set[str]]:
    """Text of all inline parts, and the kinds of tokens that are neither text nor the place's own."""
    text, kinds = [], set()
    for token in READER.parse(markdown):
        kinds.add(token.type)
        for child in token.children or []:
            kinds.add(child.type)
            text.append(child.content)
    return "".join(text), kinds


@pytest.mark.parametrize("place", PLACES)
@given(text=SIGNS | ANY)
@settings(max_examples=120, deadline=None)
def test_any_text_is_itself_in_any_place(place, text):
    text = printable(text.strip(), len(text)).strip()
    form = PLACES[place]
    found, kinds = told(form.format(markdown_escape(text)))
    plain, usual = told(form.format("name"))
    assert kinds <= usual | {"text_special"}
    assert " ".join(found.split()) == " ".join(plain.replace("name", text).split())


@pytest.mark.parametrize(
    "text",
    [
        "last_move_input: Δ −0.3969 test nats [−0.4295, −0.3642], helps (4 seeds, 20,174 positions of 107 games)",
        "stem_kernel_5x5 +0.0314 on gonn-b5 (screen)",
        "Clark & Storkey (2015), 100% (300/300)",
        "685M x 50 + 82M",
        "−0.0247 [−0.0411, −0.0044]",
    ],
)
def test_what_people_write_stays_as_it_is(text):
    assert markdown_escape(text) == text
