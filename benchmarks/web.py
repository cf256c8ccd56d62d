"""Section web: how long the web app lets people wait, in a real browser (chromium)."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from grids import load_note
from jobs import HERE, scratch
from targets import verdict
from web_figures import answer_changes

CLICKS = 40
BUSY = """
from tests.web import job_tasks
from shoal.web.project import runs
runs.make_release = job_tasks.busy_release
from shoal.cli import main
main()
"""
CHANGES = """
() => new Promise((resolve) => {
  const moments = [];
  const watch = new MutationObserver(() => moments.push(performance.now()));
  watch.observe(document.querySelector(".s-progress"),
    { subtree: true, childList: true, characterData: true, attributes: true });
  setTimeout(() => { watch.disconnect(); resolve(moments); }, 6000);
})
"""
HOVER = """
() => new Promise((resolve) => {
  const canvas = document.querySelector(".s-lattice canvas");
  const box = canvas.getBoundingClientRect(), begun = performance.now();
  let frames = 0;
  const move = (now) => {
    const spent = now - begun, share = (spent % 500) / 500;
    const place = { clientX: box.x + share * box.width, clientY: box.y + box.height / 2 };
    canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, ...place }));
    frames += 1;
    if (spent < 2000) requestAnimationFrame(move); else resolve(spent / frames / 1000);
  };
  requestAnimationFrame(move);
})
"""


def measure(*, full: bool) -> dict[str, Any]:
    """Time starts, uploads, clicks, figures and cancellation; with `full`, also 500 MB."""
    sys.path.insert(0, str(HERE.parent))  # the tests' server and tasks
    rows: dict[str, dict[str, float]] = {}
    with scratch() as named, _browser() as visit:
        folder = Path(named)
        rows["web, ready"] = _start(folder)
        for size in (50, 500) if full else (50,):
            rows[f"web, {size} MB to preview"] = _upload(folder, visit, size)
        rows |= _during_a_job(folder, visit)
        rows |= _lattice(folder, visit)
    with scratch() as named:
        rows |= answer_changes(Path(named))
    rows["web, cancel a deaf job"] = {"wall": asyncio.run(_cancel())}
    return {"waits": rows}


@contextmanager
def _browser() -> Iterator[Callable[[Any], Any]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])

        def visit(server: Any) -> Any:
            context = browser.new_context(viewport={"width": 1366, "height": 900})
            context.set_default_timeout(60_000)
            page = context.new_page()
            page.goto(server.address)
            page.locator("#content").wait_for()
            return page

        yield visit
        browser.close()


@contextmanager
def _server(folder: Path, *arguments: Any, **options: Any) -> Iterator[Any]:
    from tests.web.servers import Server

    server = Server(folder, arguments, **options)
    try:
        yield server
    finally:
        server.close()


def _megabytes(pid: int) -> float:
    """Return the memory of a process, pages that it shares with others in part."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _start(folder: Path) -> dict[str, float]:
    begun = time.perf_counter()
    with _server(folder) as server:
        return {"wall": time.perf_counter() - begun, "peak_mb": _megabytes(server.process.pid)}


def _upload(folder: Path, visit: Callable[[Any], Any], size: int) -> dict[str, float]:
    """Time an upload until its first rows are shown."""
    from shoal.datasets.hospital import write_patients

    one, table = folder / "one.csv", folder / f"{size}.csv"
    if not one.exists():
        write_patients(one, 10_000, 0)
    head, _, body = one.read_bytes().partition(b"\n")
    with table.open("wb") as file:
        file.write(head + b"\n")
        while file.tell() < size * 2**20 - len(body):
            file.write(body)
    with _server(folder) as server:
        page = visit(server)
        before, begun = _megabytes(server.process.pid), time.perf_counter()
        page.locator("#shoal-file").set_input_files(table)
        page.locator(".s-table .q-virtual-scroll__content tr").first.wait_for()
        wall = time.perf_counter() - begun
        return {"wall": wall, "extra_mb": _megabytes(server.process.pid) - before}


def _during_a_job(folder: Path, visit: Callable[[Any], Any]) -> dict[str, dict[str, float]]:
    """Time clicks, progress and a reload while another process computes."""
    with _server(folder, folder / "one.csv", program=("-c", BUSY)) as server:
        page = visit(server)
        page.locator(".s-onward button:enabled").first.wait_for()
        page.goto(f"{server.origin}/protect")
        page.get_by_role("button", name="Create the release").click()
        cancel = page.get_by_role("button", name="Cancel").first
        cancel.wait_for()
        clicks = sorted(_click(page) for _ in range(CLICKS))
        moments = page.evaluate(CHANGES)
        gaps = [b - a for a, b in pairwise(moments)]
        begun = time.perf_counter()
        page.reload()
        cancel.wait_for()
        reload = time.perf_counter() - begun
        begun = time.perf_counter()
        server.stop()
        stop = time.perf_counter() - begun
        return {
            "web, click during a job (p95)": {"wall": clicks[int(0.95 * CLICKS)]},
            "web, longest wait for progress": {"wall": max(gaps, default=6000.0) / 1000},
            "web, reload during a job": {"wall": reload},
            "web, stop during a job": {"wall": stop},
        }


def _lattice(folder: Path, visit: Callable[[Any], Any]) -> dict[str, dict[str, float]]:
    """Time a lattice of 14,400 nodes from the click until its picture and its table are shown.

    The lattice is that of the patients with one more column of two values. Reading the table,
    counting the groups of every node and drawing are included.
    """
    table = folder / "lattice.csv"
    with (folder / "one.csv").open(encoding="utf-8") as source, table.open("w") as file:
        for number, line in enumerate(source):
            more = "marital_status" if number == 0 else ("single", "married")[number % 2]
            file.write(f"{line.rstrip()},{more}\n")
    with _server(folder, table) as server:
        page = visit(server)
        page.locator(".s-onward button:enabled").first.wait_for()
        page.goto(f"{server.origin}/protect")
        page.get_by_role("button", name="Create the release").click()
        page.get_by_role("tab", name="Levels").click()
        begun = time.perf_counter()
        page.get_by_role("button", name="Show all combinations").click()
        page.locator(".s-lattice canvas").first.wait_for()
        page.locator(".s-nodes").wait_for()
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(drawn))")
        wall = time.perf_counter() - begun
        counted = page.get_by_text("combinations of levels;").inner_text()
        nodes = int(counted.split()[0].replace(",", ""))
        assert nodes > 13_000, counted
        begun = time.perf_counter()
        page.reload()
        page.get_by_role("tab", name="Levels").click()
        page.locator(".s-nodes").wait_for()
        page.evaluate("() => new Promise((drawn) => requestAnimationFrame(drawn))")
        again = time.perf_counter() - begun
        return {
            "web, lattice, from click to picture": {"wall": wall},
            "web, lattice, drawn again": {"wall": again},
            "web, lattice, one frame of hovering": {"wall": page.evaluate(HOVER)},
        }


def _click(page: Any) -> float:
    """Change the colours; return the seconds until the page shows it."""
    button = page.locator(".s-tools button").last
    before = button.get_attribute("aria-label")
    begun = time.perf_counter()
    button.click()
    page.locator(f'.s-tools button:not([aria-label="{before}"])').last.wait_for()
    return time.perf_counter() - begun


async def _cancel() -> float:
    from tests.web import job_tasks

    from shoal.web import jobs

    job = jobs.start(job_tasks.be_deaf)
    while not job.text:
        await asyncio.sleep(0.05)
    begun = time.perf_counter()
    job.cancel()
    await job.wait()
    return time.perf_counter() - begun


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grid = Grid(title="web app", caption=f"Memory is the server's own. {load_note(result)}")
    for head in ("wait", "wall s", "MB", "target"):
        grid.add_column(head, justify="left" if head in ("wait", "target") else "right")
    for name, row in result["waits"].items():
        memory = row.get("extra_mb", row.get("peak_mb"))
        shown = "" if memory is None else f"{memory:.0f}"
        seconds = f"{row.get('wall', row.get('cpu', 0.0)):.3g}"
        grid.add_row(name.removeprefix("web, "), seconds, shown, verdict(name, row))
    return [grid]
