"""What every screen must keep: no violation that axe finds, and a name for every control."""

from __future__ import annotations

from axe_core_python.base import AXE_SCRIPT
from tests.web.browser.conftest import NARROW, WIDE

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
STILL = "* { transition: none !important } .q-ripple { display: none !important }"
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


EVERY_RULE = {"type": "tag", "values": TAGS}
COLOURS = {"type": "rule", "values": ["color-contrast"]}
RUN = """
(rules) => axe.run(document, { runOnly: rules, resultTypes: ["violations"] })
  .then((found) => found.violations)
"""


def violations(page, rules=EVERY_RULE):
    """Return the rules of WCAG 2.1 A and AA that the page breaks, each with one element."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    return [
        (each["id"], node["html"][:200], [check["message"] for check in node["any"]])
        for each in page.evaluate(RUN, rules)
        for node in each["nodes"][:1]
    ]


def faults(page):
    """Return what is wrong on a screen, at two widths, light and dark."""
    found = []
    page.add_style_tag(content=STILL)
    for width, size in (("wide", WIDE), ("narrow", NARROW)):
        page.set_viewport_size(size)
        for scheme, rules in (("light", EVERY_RULE), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme)
            found += [(width, scheme, *each) for each in violations(page, rules)]
        found += [(width, "no name", html) for html in nameless(page)]
        if (extra := page.evaluate(WIDER)) > 0:
            found.append((width, "scrolls sideways", extra))
    page.set_viewport_size(WIDE)
    page.emulate_media(color_scheme="light")
    return found


def nameless(page):
    """Return the controls without an accessible name, as the browser computes it."""
    client = page.context.new_cdp_session(page)
    nodes = client.send("Accessibility.getFullAXTree")["nodes"]
    client.detach()
    roles = {"button", "link", "textbox", "checkbox", "radio", "combobox", "tab", "slider",
             "spinbutton", "switch", "searchbox", "listbox", "menuitem", "option"}  # fmt: skip
    return [
        node["role"]["value"]
        for node in nodes
        if not node.get("ignored")
        and node.get("role", {}).get("value") in roles
        and not node.get("name", {}).get("value", "").strip()
    ]
