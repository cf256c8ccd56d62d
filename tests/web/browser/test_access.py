"""One browser and its own pages: what other sites, programs and requests get is a refusal."""

from __future__ import annotations

import http.server
import threading

import pytest
from playwright.sync_api import expect

ATTACK = """
async ([address]) => {
  const results = [];
  for (const [path, options] of [["/", {}], ["/", { method: "POST", body: "x" }],
                                 ["/upload", { method: "PUT", body: "x" }]]) {
    try {
      const how = { credentials: "include", mode: "no-cors", ...options };
      const answer = await fetch(address + path, how);
      results.push(answer.type);
    } catch { results.push("refused"); }
  }
  results.push(await new Promise((resolve) => {
    const path = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket";
    const socket = new WebSocket(address.replace("http", "ws") + path);
    socket.onopen = () => resolve("opened");
    socket.onerror = () => resolve("refused");
  }));
  return results;
}
"""


@pytest.fixture
def neighbour():
    """Another program on this computer that serves pages and notes the cookies it is sent."""

    cookies = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            cookies.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, cookies
    server.shutdown()
    server.server_close()


def test_the_app_opens_from_its_address_and_from_a_file_and_asks_nobody_else(
    serve, visit, context, tmp_path
):
    server = serve()
    page = visit(server)
    assert page.url == f"{server.origin}/"
    expect(page.get_by_role("navigation", name="Steps")).to_be_visible()
    assert {url.split("/")[2] for url in page.asked if url.startswith("http")} == {server.host}
    assert page.problems == []
    other = serve()
    redirect = tmp_path / "open.html"
    redirect.write_text(f'<meta http-equiv="refresh" content="0;url={other.address}">')
    second = context.new_page()
    second.goto(redirect.as_uri())
    expect(second.get_by_role("navigation", name="Steps")).to_be_visible()


def test_a_second_tab_is_in_and_another_browser_is_not(serve, visit, context, chromium):
    server = serve()
    visit(server)
    tab = context.new_page()
    tab.goto(server.origin)
    expect(tab.get_by_role("navigation", name="Steps")).to_be_visible()
    with chromium.new_context() as elsewhere:
        page = elsewhere.new_page()
        for address in (server.address, server.origin):
            assert page.goto(address).status == 403
            expect(page.get_by_role("heading")).to_have_text("This address does not open Shoal")


def test_other_programs_on_this_computer_get_no_cookie_and_no_access(
    serve, visit, context, neighbour
):
    port, cookies = neighbour
    server = serve()
    visit(server)
    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    page = context.new_page()
    for name in ("127.0.0.1", "localhost", "other.localhost"):
        page.goto(f"http://{name}:{port}/")
        assert page.evaluate(ATTACK, [server.origin]) == ["refused"] * 4
    assert len(cookies) >= 3
    assert set(cookies) == {None}
    page.goto(f"http://127.0.0.1:{port}/")
    page.evaluate("(address) => { location = address }", server.origin)
    page.wait_for_url(f"{server.origin}/**")
    expect(page.get_by_role("heading")).to_have_text("This address does not open Shoal")
