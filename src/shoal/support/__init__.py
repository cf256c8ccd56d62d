"""Support for every part: arrays, options, files, progress, compilation. It knows no tables."""
