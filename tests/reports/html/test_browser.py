"""Pages as headless Chromium shows them: sorted, filtered, zoomed, opened; nothing in the console, nothing beyond the
edge. Skipped where no browser is."""

import pytest

from reports.book.book import write_book
from reports.results.decisions import load_results
from reports.study.render import write_report
from scripts.browser import CHROMIUM, DRIVER, browser
from tests.reports.made_studies import plan_study, registry, train
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no Chromium with its driver here; on Debian: apt-get install chromium-driver"
)
LOSSES = {
    "without-parametric_relu": 0.02,
    "without-ladder_input": 0.4,
    "with-chain_pooling": 0.1,
    "with-ko_plane": -0.05,
}
CHARTS = "return document.querySelectorAll('.uplot canvas').length"
UNFOLD = "for (const each of document.querySelectorAll('details')) each.open = true"


def reported(folder, name: str, **settings):
    """A study of four enhancements, written down."""
    cards = [arm.split("-")[1] for arm in LOSSES]
    made = plan_study(folder / name, *cards, budget="cpu", **settings)
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
    book = write_book([study.report, screen.report], registry(), folder / "out" / "report")
    return {"study": study.html, "screen": screen.html, "book": book}


@pytest.fixture(scope="module")
def chromium():
    with browser() as driver:
        yield driver


@pytest.fixture
def driver(chromium):
    """A browser; the pages that a test opens in it may complain of nothing."""
    yield chromium
    assert [each for each in chromium.get_log("browser") if each["level"] in ("WARNING", "SEVERE")] == []


def opened(driver, path):
    driver.get(path.as_uri())
    wait_until(lambda: driver.execute_script("return document.readyState") == "complete")
    return driver


def column(driver, table: str, index: int) -> list[str]:
    """Texts of a column of the rows that are to be seen."""
    rows = f"[...document.querySelectorAll('{table} tbody > tr:not(.detail):not([hidden])')]"
    return driver.execute_script(f"return {rows}.map((row) => row.cells[{index}].innerText.trim().split('\\n')[0])")


def test_a_study_sorts_opens_and_zooms(driver, study):
    """The quick one: a press on a heading sorts, a name opens what is behind it, a drag zooms."""
    opened(driver, study.html)
    sort_by_effect(driver)
    open_a_row(driver)
    zoom(driver)


def sort_by_effect(driver):
    press = "document.querySelector('#table-effects thead th:nth-child(2)').click()"
    state = "return document.querySelector('#table-effects thead th:nth-child(2)').getAttribute('aria-sort')"
    driver.execute_script(press)
    values = [float(text.split()[0].replace("−", "-")) for text in column(driver, "#table-effects", 1)]
    assert values == sorted(values) and len(values) == 4 and driver.execute_script(state) == "ascending"
    driver.execute_script(press)
    falling = [float(text.split()[0].replace("−", "-")) for text in column(driver, "#table-effects", 1)]
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
@pytest.mark.parametrize("name", ["study", "screen", "book"])
def test_no_page_is_wider_than_a_window_nor_complains_and_print_unfolds(driver, pages, name):
    folded = "return document.querySelectorAll('details:not([open])').length"
    for width, height in ((400, 800), (1280, 900)):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        opened(driver, pages[name])
        before = driver.execute_script(folded)
        for event in ("beforeprint", "afterprint"):
            have, room = driver.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert have <= room == width
            driver.execute_script(f"dispatchEvent(new Event('{event}'))")
            assert before and driver.execute_script(folded) == (before if event == "afterprint" else 0)
        assert driver.execute_script(CHARTS) == (1 if name == "screen" else 2)


@pytest.mark.system
def test_the_page_over_everything_filters_links_and_draws_the_chosen_study(driver, pages):
    opened(driver, pages["book"])
    state = "return document.querySelector('#gain-and-cost').open"
    assert not driver.execute_script(state)
    driver.find_element("css selector", "nav a[href='#gain-and-cost']").click()
    wait_until(lambda: driver.execute_script(state))  # a link unfolds where it leads
    driver.execute_script(UNFOLD)
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
    select = driver.find_element("xpath", "//section[starts-with(@id, 'all-')]//label[starts-with(., 'system')]/select")
    select.send_keys("Cazenave")
    systems = {registry().cards[name].system for name in column(driver, "#table-claims", 0)}
    assert systems == {"cazenave"}

    assert driver.execute_script(CHARTS) == 2
    select = driver.find_element("css selector", ".charts select")
    driver.execute_script("arguments[0].value = '1'; arguments[0].dispatchEvent(new Event('change'))", select)
    arm = driver.find_element("css selector", ".legend button")
    assert arm.get_attribute("innerText")
    driver.execute_script("arguments[0].click()", arm)
    assert arm.get_attribute("aria-pressed") == "false"
