#!/usr/bin/env python3
"""Pages of results: bench/NAME.md has the current table of each kind of measurement, bench/history/NAME.csv the earlier ones.

    bench/recording.py NAME KIND [CONDITIONS] < TEXT

Scripts of this folder call `record` (those in shell call the command). It puts the text under the heading of its kind, with date,
commit and conditions, and moves what stood there to the history. A text with headings of its own (`### …`) is of several kinds.

The history has a line for each cell: date, commit, kind, the number of the row in its table, the column, and the value. Tables of a
kind that has several are numbered (`1.4` is row 4 of the first). Remarks have no row: their column is `note`, or `conditions`.
"""

import csv
import datetime
import pathlib
import re
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent
FIELDS = ["date", "commit", "kind", "row", "column", "value"]
# The line below a heading: date, commit (which may have changes), conditions.
STAMP = re.compile(r"^(\d{4}-\d\d-\d\d)(?:, ([0-9a-f]{7,12}(?: with changes)?))?(?:, (.*))?$")


def commit():
    """The commit that is measured; results on pages do not change it."""
    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=BENCH, stdout=subprocess.PIPE, text=True).stdout.strip()

    status = git("status", "--porcelain", "--untracked-files=no", "--", "..", ":!*.md", ":!*.svg", ":!history")
    return git("rev-parse", "--short=10", "HEAD") + (" with changes" if status else "")


def cells(line):
    """The cells of a row; a bar between backticks is none."""
    parts = re.split(r"\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", line.strip().strip("|"))
    return [part.strip() for part in parts]


def aligned(lines):
    """The rows of a table in a block of code, whose columns are apart by blanks; none if it is no table."""
    for gap in (r"[\s|]+", r"\s{2,}(?:\|\s+)?"):
        rows = [re.split(gap, line.strip()) for line in lines]
        if len(rows) > 1 and len(rows[0]) > 2 and len({len(row) for row in rows}) == 1:
            return rows
    return None


def figures(text):
    """What a text says: (row, column, value) for each cell and each remark."""
    found, tables, lines = [], [], text.strip().splitlines()
    remarks = []

    def end_of_remark():
        if remarks:
            found.append(("", "note", " ".join(remarks)))
            remarks.clear()

    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("```"):
            end_of_remark()
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines))
            block = [line for line in lines[at + 1:end] if line.strip()]
            tables.append((len(found), aligned(block) or [["line"]] + [[line.strip()] for line in block]))
            at = end
        elif line.startswith("|") and at + 1 < len(lines) and re.match(r"^\|[-:| ]+\|$", lines[at + 1]):
            end_of_remark()
            rows = [cells(line)]
            at += 2
            while at < len(lines) and lines[at].startswith("|"):
                rows.append(cells(lines[at]))
                at += 1
            tables.append((len(found), rows))
            continue
        elif not line.strip():
            end_of_remark()
        else:
            remarks.append(line.strip())
        at += 1
    end_of_remark()
    result, place = [], 0
    for number, (before, rows) in enumerate(tables, 1):
        result += found[place:before]
        place = before
        first = f"{number}." if len(tables) > 1 else ""
        for index, row in enumerate(rows[1:], 1):
            names = rows[0] + [""] * (len(row) - len(rows[0]))
            result += [(f"{first}{index}", name, value) for name, value in zip(names, row) if value]
    return result + found[place:]


def append_history(name, date, measured, kind, conditions, text):
    path = BENCH / "history" / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        remarks = [("", "conditions", conditions)] if conditions else []
        for row, column, value in remarks + figures(text):
            writer.writerow([date, measured, kind, row, column, value])


def section(kind, date, measured, conditions, text):
    stamp = ", ".join(part for part in (date, measured, conditions) if part)
    return f"## {kind}\n\n{stamp}\n\n{text.strip()}\n"


def sections(page):
    """The page before its first section, and the sections by their headings."""
    parts = re.split(r"(?m)^## (.*)\n", page)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def record_one(name, kind, text, conditions):
    path = BENCH / f"{name}.md"
    page = path.read_text(encoding="utf-8") if path.exists() else f"# {name}\n"
    introduction, known = sections(page)
    if kind in known:
        stamp, _, old = known[kind].strip().partition("\n")
        date, measured, earlier = STAMP.match(stamp).groups(default="")
        append_history(name, date, measured, kind, earlier, old)
    new = section(kind, str(datetime.date.today()), commit(), conditions, text)
    known[kind] = new.partition("\n")[2]
    parts = [introduction.strip()] + [f"## {heading}\n\n{body.strip()}" for heading, body in known.items()]
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def record(name, kind, text, conditions=""):
    """Makes a text the current result of its kind (or each part of it that has a heading) on the page bench/NAME.md."""
    parts = re.split(r"(?m)^### (.*)\n", text.strip() + "\n")
    if parts[0].strip():
        record_one(name, kind, parts[0], conditions)
    for heading, body in zip(parts[1::2], parts[2::2]):
        record_one(name, heading, body, conditions)
    print(f"recorded in bench/{name}.md", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    record(sys.argv[1], sys.argv[2], sys.stdin.read(), *sys.argv[3:])
