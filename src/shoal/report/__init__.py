"""Reports and pictures of releases."""

from shoal.report.document import contents, write_report
from shoal.report.lattice_picture import draw_lattice, draw_release

__all__ = ["contents", "draw_lattice", "draw_release", "write_report"]
