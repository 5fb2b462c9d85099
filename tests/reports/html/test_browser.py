"""Pages as headless Chromium shows them: sorted, filtered, zoomed, opened; nothing in the console, nothing beside the
edge."""

import pytest

from reports.book.book import write_book
from reports.results.decisions import load_results
from reports.study.render import write_report
from tests.browser import browser, complaints, needs_browser
from tests.reports.made_studies import plan_study, registry, train
from tests.waiting import wait_until

pytestmark = needs_browser
CARDS = ("parametric_relu", "ladder_input", "chain_pooling", "ko_plane")
LOSSES = {
    "without-parametric_relu": 0.02,
    "without-ladder_input": 0.4,
    "with-chain_pooling": 0.1,
    "with-ko_plane": -0.05,
}
SIZES = [(1280, 900), (400, 800)]
CHARTS = "return document.querySelectorAll('.uplot canvas').length"


def reported(folder, name: str, **settings):
    """A study of four enhancements, written down."""
    made = plan_study(folder / name, *CARDS, budget="cpu", **settings)
    train(made, LOSSES)
    results = load_results(made.study, made.runs, made.study_folder)
    return write_report(made.study, results, folder / "out", made.registry)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return reported(tmp_path_factory.mktemp("browser"), "study", seeds=(1, 2, 3))


@pytest.fixture(scope="module")
def pages(study, tmp_path_factory):
    """The page of a study, that of a screen, and that over everything."""
    folder = tmp_path_factory.mktemp("pages")
    screen = reported(folder, "screen", design="screen", seeds=(1, 2))
    book = write_book([study, screen], registry(), folder / "out" / "report")
    return {"study": study.html, "screen": screen.html, "book": book}


def opened(driver, path):
    driver.get(path.as_uri())
    wait_until(lambda: driver.execute_script("return document.readyState") == "complete")
    return driver


def column(driver, table: str, index: int) -> list[str]:
    """Texts of a column of the rows that are to be seen."""
    rows = f"[...document.querySelectorAll('{table} tbody > tr:not(.detail):not([hidden])')]"
    return driver.execute_script(f"return {rows}.map((row) => row.cells[{index}].innerText.trim().split('\\n')[0])")


def number(text: str) -> float:
    return float(text.replace("−", "-"))


def test_a_study_sorts_opens_and_zooms(study):
    """The quick one: no error, a press on a heading sorts, a name opens what is behind it, a drag zooms."""
    with browser() as driver:
        opened(driver, study.html)
        sort_by_effect(driver)
        open_a_row(driver)
        zoom(driver)
        assert complaints(driver) == []


def sort_by_effect(driver):
    press = "document.querySelector('#table-effects thead th:nth-child(2)').click()"
    state = "return document.querySelector('#table-effects thead th:nth-child(2)').getAttribute('aria-sort')"
    driver.execute_script(press)
    values = [number(text.split()[0]) for text in column(driver, "#table-effects", 1)]
    assert values == sorted(values) and len(values) == 4 and driver.execute_script(state) == "ascending"
    driver.execute_script(press)
    falling = [number(text.split()[0]) for text in column(driver, "#table-effects", 1)]
    assert falling == values[::-1] and driver.execute_script(state) == "descending"


def open_a_row(driver):
    button = driver.find_element("css selector", "#table-effects button.more")
    behind = "return document.querySelector('#table-effects tr.detail:not([hidden])')?.innerText ?? ''"
    assert driver.execute_script(behind) == "" and button.get_attribute("aria-expanded") == "false"
    button.click()
    assert "gonn ablate" in driver.execute_script(behind) and button.get_attribute("aria-expanded") == "true"


def zoom(driver):
    """A drag over the middle of a chart shows that part of the samples alone; two presses bring all back."""
    from selenium.webdriver import ActionChains

    view = "return document.querySelector('[data-view]').dataset.view.split(' ').map(Number)"
    assert driver.execute_script(CHARTS) == 2
    low, high = driver.execute_script(view)
    over = driver.find_elements("css selector", ".uplot .u-over")[0]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    ActionChains(driver).move_to_element(over).click_and_hold().move_by_offset(200, 0).release().perform()
    wait_until(lambda: driver.execute_script(view) != [low, high])
    left, right = driver.execute_script(view)
    assert low < left < right < high and left == pytest.approx((low + high) / 2, rel=0.05)
    assert " samples: gonn-b5 " in driver.execute_script("return document.querySelector('.readout').innerText")
    ActionChains(driver).double_click(over).perform()
    wait_until(lambda: driver.execute_script(view) == [low, high])


@pytest.mark.system
@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("name", ["study", "screen", "book"])
def test_no_page_is_wider_than_the_window_nor_complains(pages, name, width, height):
    """Folded or opened."""
    wide = "return [document.documentElement.scrollWidth, innerWidth]"
    with browser(width, height) as driver:
        opened(driver, pages[name])
        for _ in range(2):
            have, room = driver.execute_script(wide)
            assert have <= room == width
            driver.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
        assert complaints(driver) == []
        assert driver.execute_script(CHARTS) == (1 if name == "screen" else 2)


@pytest.mark.system
def test_the_page_over_everything_filters_by_typing_and_by_choice(pages):
    with browser() as driver:
        opened(driver, pages["book"])
        driver.execute_script("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        whole = column(driver, "#table-claims", 0)
        assert set(whole) == set(registry().cards)
        box = driver.find_element("css selector", "[id^=all-] .filters input")
        box.send_keys("last_move")
        names = set(column(driver, "#table-claims", 0))
        assert "last_move_input" in names and 0 < len(names) < len(set(whole))
        box.clear()
        box.send_keys("no such thing at all")
        assert column(driver, "#table-claims", 0) == []
        box.clear()
        box.send_keys(" ")
        assert column(driver, "#table-claims", 0) == whole
        select = driver.find_element(
            "xpath", "//section[starts-with(@id, 'all-')]//label[starts-with(., 'system')]/select"
        )
        select.send_keys("Cazenave")
        systems = {registry().cards[name].system for name in column(driver, "#table-claims", 0)}
        assert systems == {"cazenave"}
        assert complaints(driver) == []


@pytest.mark.system
def test_another_study_is_drawn_when_it_is_chosen_and_arms_go_and_come(pages):
    with browser() as driver:
        opened(driver, pages["book"])
        assert driver.execute_script(CHARTS) == 2
        select = driver.find_element("css selector", ".charts select")
        driver.execute_script("arguments[0].value = '1'; arguments[0].dispatchEvent(new Event('change'))", select)
        labels = driver.execute_script(
            "return [...document.querySelectorAll('.legend button')].map((each) => each.innerText)"
        )
        assert labels
        arm = driver.find_element("css selector", ".legend button")
        driver.execute_script("arguments[0].click()", arm)
        assert arm.get_attribute("aria-pressed") == "false"
        assert complaints(driver) == []


@pytest.mark.system
def test_a_link_unfolds_where_it_leads(pages):
    state = "return document.querySelector('#gain-and-cost').open"
    with browser() as driver:
        opened(driver, pages["book"])
        assert not driver.execute_script(state)
        driver.find_element("css selector", "nav a[href='#gain-and-cost']").click()
        wait_until(lambda: driver.execute_script(state))


@pytest.mark.system
def test_print_shows_what_is_folded(pages):
    with browser() as driver:
        opened(driver, pages["study"])
        folded = "return document.querySelectorAll('details:not([open])').length"
        before = driver.execute_script(folded)
        driver.execute_script("dispatchEvent(new Event('beforeprint'))")
        assert before and driver.execute_script(folded) == 0
        driver.execute_script("dispatchEvent(new Event('afterprint'))")
        assert driver.execute_script(folded) == before
