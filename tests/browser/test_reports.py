"""Every report on a phone and on a dark screen: nothing is cut off, too small or too pale."""

import pytest

from browser.reports import COMMANDS, whats_wrong, write_reports
from server.axe import axe_script, violations

# laid out as others; `report_shots` looks at these too
ALIKE = {
    "assess-pass", "check", "choose", "count", "diff", "identify-several", "knowledge",
    "knowledge-hidden", "look", "mask", "posterior-sensitivity", "together", "widths",
}  # fmt: skip
PHONE = {"width": 360, "height": 800}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    names = [name for name in COMMANDS if name not in ALIKE]
    return write_reports(tmp_path_factory.mktemp("reports"), names)


@pytest.fixture(scope="module")
def screen(browser):
    """A dark phone, which asks nobody for anything."""
    context = browser.new_context(viewport=PHONE, color_scheme="dark")
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    yield page
    context.close()
    assert all(url.startswith("file:") for url in asked)


def test_reports_fit_a_phone_and_a_dark_screen(reports, screen):
    wrong = {}
    for name, file in reports.items():
        screen.goto(file.as_uri())
        if found := whats_wrong(screen):
            wrong[name] = found
    assert not wrong


def test_reports_on_a_dark_screen_under_axe(reports, screen, cache):
    script, wrong = axe_script(cache), {}
    for name in ("assess-fail", "compare"):
        screen.goto(reports[name].as_uri())
        if found := violations(screen, script):
            wrong[name] = found
    assert not wrong


def test_reports_are_light_when_printed_and_say_what_they_are(reports, screen):
    """Whatever the screen was."""
    screen.goto(reports["frontier"].as_uri())
    screen.emulate_media(media="print")
    assert screen.evaluate("getComputedStyle(document.body).color") == "rgb(29, 33, 39)"
    shown = screen.locator(".banner")
    assert shown.inner_text().startswith("Confidential")
    screen.emulate_media(media="screen")
