"""Pages as the system's browser shows them, from disk and without the network: Playwright's own is never downloaded."""

import shutil
from contextlib import contextmanager
from functools import cache, partial

import pytest
from playwright.sync_api import sync_playwright

from tests.waiting import HANG

DESKTOP, TELEPHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@contextmanager
def started_browser():
    """Start the browser; what is given makes a tab of it, the same one for equal options."""
    found = [path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))]
    if not found:
        pytest.skip("no browser to show pages in: install one, for example with apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found[0], timeout=1000 * HANG)
        yield cache(partial(Tab, started))
        started.close()


class Tab:
    """A page of the browser, which opens one file after another: a new one for each takes longer than most tests."""

    def __init__(self, browser, **options):
        context = browser.new_context(viewport=DESKTOP, **options)
        context.set_default_timeout(1000 * HANG)
        self.page, self.folder, self.wrong = context.new_page(), "", []
        context.route("**/*", self._admit)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self._screen = context.new_cdp_session(self.page)

    def _note(self, message):
        if message.type not in ("log", "debug"):
            self.wrong.append(message.text)

    def _admit(self, route):
        if route.request.url.startswith(self.folder):
            route.continue_()
        else:
            self.wrong.append(route.request.url)
            route.abort()

    def show_as_on_a_telephone(self, width=TELEPHONE["width"]):
        """Lay out the open page as a telephone does."""
        screen = TELEPHONE | {"width": width, "deviceScaleFactor": 1, "mobile": True}
        self._screen.send("Emulation.setDeviceMetricsOverride", screen)

    def open(self, path, root=None):
        """Open a file as on a desk, in the light; it may load what lies beside it, or below a root."""
        self._screen.send("Emulation.setDeviceMetricsOverride", DESKTOP | {"deviceScaleFactor": 1, "mobile": False})
        self.page.emulate_media(color_scheme="light", media="screen")
        self.folder, self.wrong[:] = (root or path.parent).as_uri(), []
        self.page.goto(path.as_uri())


@contextmanager
def opened(browser, path, **options):
    """Open a page from disk; nothing may go wrong in it, and it may ask for nothing but files beside it."""
    tab = browser(**options)
    tab.open(path)
    yield tab
    assert tab.wrong == []


def column(page, table, number):
    """Return the visible texts of a column of a table; the first is 1."""
    return page.locator(f"#{table} tbody tr:visible td:nth-child({number})").all_inner_texts()


def open_all(page):
    """Open all that is closed, as a reader does."""
    for closed in page.locator("details:not([open]) > summary").all():
        closed.evaluate("one => (one.parentElement.open = true)")


def fits(page, width):
    """Whether no part of a page is wider than the screen."""
    return page.evaluate("document.documentElement.scrollWidth") <= width == page.evaluate("innerWidth")
