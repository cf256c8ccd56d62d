"""What a person looks at: pictures and, later, reports."""

from shoal.report.lattice_picture import draw_lattice, draw_release

__all__ = ["draw_lattice", "draw_release"]
