"""Releases: their cells, rows and files, their verification, and reading those of any tool."""
