"""Graphs drawn in a terminal: layouts, braille lines, labels, and the same as SVG and PNG."""
