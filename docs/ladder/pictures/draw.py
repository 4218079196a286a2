#!/usr/bin/env python3
"""draw.py - draws the pictures of the ladder's pages: one SVG for each NAME.py in this folder.

    docs/ladder/pictures/draw.py [NAME]...   writes NAME.svg; without names, writes all pictures
    docs/ladder/pictures/draw.py --check     fails if a picture differs from the output of its script

NAME.py has a function draw(svg), which adds shapes to a Picture; coordinates are in pixels.

SPDX-License-Identifier: Apache-2.0
"""
import importlib
import pathlib
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent

INK, PALE, WARM, COOL, GREEN, GRID = "#222", "#eef1f5", "#e8a13c", "#4878a8", "#5a9a5a", "#b8c0c8"


class Picture:
    """Shapes, and the width and height of their bounding box."""

    def __init__(self):
        self.shapes, self.width, self.height = [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def box(self, x, y, width, height, text="", fill=PALE, stroke=GRID, size=12):
        self.shapes.append(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
                           f'fill="{fill}" stroke="{stroke}"/>')
        self.reach(x + width, y + height)
        if text != "":
            self.text(x + width / 2, y + height / 2 + size * 0.36, text, "middle", size)

    def text(self, x, y, text, anchor="start", size=12, fill=INK, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.shapes.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size:g}" '
                           f'fill="{fill}"{weight}>{escape(str(text))}</text>')
        width = len(str(text)) * size * 0.55
        self.reach(x + {"start": width, "middle": width / 2, "end": 0}[anchor], y + size / 3)

    def line(self, x0, y0, x1, y1, stroke=INK, width=1, dashes=""):
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.shapes.append(f'<path d="M{x0:g} {y0:g}L{x1:g} {y1:g}" stroke="{stroke}" '
                           f'stroke-width="{width:g}" fill="none"{dash}/>')
        self.reach(max(x0, x1), max(y0, y1))

    def arrow(self, x0, y0, x1, y1, stroke=INK, width=1, dashes=""):
        self.line(x0, y0, x1, y1, stroke, width, dashes)
        self.shapes[-1] = self.shapes[-1].replace("/>", ' marker-end="url(#head)"/>')

    def circle(self, x, y, radius, text="", fill=PALE, stroke=GRID, size=12):
        self.shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" '
                           f'stroke="{stroke}"/>')
        self.reach(x + radius, y + radius)
        if text != "":
            self.text(x, y + size * 0.36, text, "middle", size)

    def row(self, x, y, values, width=34, height=26, fills=None, size=12):
        """Adjacent boxes, one per value; fills: one colour per box."""
        for i, value in enumerate(values):
            self.box(x + i * width, y, width, height, value, fills[i] if fills else PALE, size=size)

    def svg(self):
        width, height = round(self.width + 12), round(self.height + 12)
        head = ('<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
                'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="context-stroke"/>'
                '</marker></defs>')
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
                          f'height="{height}" viewBox="0 0 {width} {height}" '
                          'font-family="sans-serif">',
                          '<rect width="100%" height="100%" fill="#fff"/>', head, *self.shapes,
                          "</svg>", ""])


def main():
    sys.path.insert(0, str(HERE))
    names = [word for word in sys.argv[1:] if word != "--check"]
    names = names or sorted(path.stem for path in HERE.glob("*.py") if path.stem != "draw")
    stale = []
    for name in names:
        picture = Picture()
        importlib.import_module(name).draw(picture)
        path = HERE / f"{name}.svg"
        if "--check" not in sys.argv:
            path.write_text(picture.svg())
        elif not path.exists() or path.read_text() != picture.svg():
            stale.append(name)
    for name in stale:
        print(f"docs/ladder/pictures/{name}.svg differs from the output of {name}.py: run draw.py {name}")
    return bool(stale)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
