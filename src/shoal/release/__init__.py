"""From a release to rows: cells, order, frames and files."""
