"""Compares reduce --by, select, unique and stats on tables with the csv and collections modules.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import csv
import io
import json
import math
import random
import subprocess

FAILED = []


def echelon(*words, data):
    """Return the standard output of the command for these bytes of standard input."""
    done = subprocess.run(["echelon", *words], input=data, stdout=subprocess.PIPE, check=True)
    return done.stdout


def check(what, got, want):
    """Record a difference."""
    if got != want:
        FAILED.append(what)
        print(what, "differs:", got[:3], want[:3])


def random_word(rng):
    """Return a string with the characters that have to be quoted."""
    return "".join(rng.choice('ab",; é\n\r') for _ in range(rng.randrange(4)))


def write(rows):
    """Return each row as a record of CSV."""
    records = []
    for row in rows:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(row)
        records.append(text.getvalue().encode())
    return records


def make_table(rng, rows):
    """Return rows of (key, code, price, qty) and the same as CSV."""
    keys = ["k"] + [random_word(rng) for _ in range(20)]
    table = [
        (rng.choice(keys), rng.randrange(-3, 4), rng.randrange(-9999, 9999) / 4, rng.randrange(1 << 62))
        for _ in range(rows)
    ]
    table[0] = ("k",) + table[0][1:]
    table[1] = ("k",) + table[1][1:]
    return table, b"".join(write([["key", "code", "price", "qty"], *table]))


def read(output):
    """Return the rows of a CSV output after its header."""
    return list(csv.reader(io.StringIO(output.decode(), newline="")))[1:]


def group(table, column):
    """Return the rows of each distinct key, sorted by bytes or by number."""
    groups = collections.defaultdict(list)
    for row in table:
        groups[row[column]].append(row)
    return sorted(groups.items(), key=lambda item: item[0].encode() if column == 0 else item[0])


def check_reduce(table, data):
    """Compare groups by text and by numbers: exact integers, and fractions that are exact."""
    for column, name in ((0, "key"), (1, "code")):
        got = read(echelon("reduce", "sum,size,max", "-k", "qty", "--by", name, "-", data=data))
        want = [
            [str(key), str(sum(row[3] for row in rows) % (1 << 64)), str(len(rows)), str(max(row[3] for row in rows))]
            for key, rows in group(table, column)
        ]
        got = [[row[0], str(int(row[1]) % (1 << 64)), *row[2:]] for row in got]
        check("reduce --by " + name, got, want)
    got = read(echelon("reduce", "sum,argmin", "-k", "price", "--by", "key", "--by", "code", "-", data=data))
    pairs = collections.defaultdict(list)
    for at, row in enumerate(table):
        pairs[(row[0].encode(), row[1])].append((row[2], at))
    want = [
        [key.decode(), code, math.fsum(x for x, _ in rows), min(rows)[1]] for (key, code), rows in sorted(pairs.items())
    ]
    check("reduce of pairs", [[r[0], int(r[1]), float(r[2]), int(r[3])] for r in got], want)


def check_select(table, data, rng):
    """Compare conditions on numbers and text; the lines are unchanged."""
    records = write(table)
    head = data[:data.index(b"\n") + 1]
    for _ in range(10):
        key = rng.choice(table)[0]
        code = rng.randrange(-3, 4)
        conditions = ['key=="%s"' % key.replace('"', '""'), "code<%d" % code, "price:-500..500", 'key>"a"']
        chosen = rng.sample(range(4), rng.randrange(1, 5))
        any_of = rng.random() < 0.5
        invert = rng.random() < 0.3
        words = ["select", *(conditions[i] for i in chosen), "-"] + ["--any"] * any_of + ["-v"] * invert

        def holds(row):
            tests = [row[0] == key, row[1] < code, -500 <= row[2] <= 500, row[0].encode() > b"a"]
            return (any if any_of else all)(tests[i] for i in chosen) != invert

        want = head + b"".join(record for record, row in zip(records, table) if holds(row))
        check(" ".join(words), echelon(*words, data=data), want)


def check_text(table, data):
    """Compare the distinct strings of a column, their counts and the statistics."""
    keys = [row[0] for row in table]
    counts = collections.Counter(keys)
    first = {key: row for key, row in reversed(list(zip(keys, write(table))))}
    want = b"".join(first[key] for key in sorted(counts, key=str.encode))
    got = echelon("unique", "-k", "key", "-", data=data)
    check("unique", got[got.index(b"\n") + 1:], want)
    got = read(echelon("reduce", "size", "--by", "key", "-", data=data))
    check("size", got, [[key, str(counts[key])] for key in sorted(counts, key=str.encode)])
    stats = json.loads(echelon("stats", "--json", "-k", "key", "-", data=data))
    most = max(counts.values())
    lengths = [len(key.encode()) for key in keys]
    ordered = sorted(counts, key=str.encode)
    want = [
        len(keys), keys.count(""), len(counts), min(lengths), max(lengths), ordered[0], ordered[-1],
        next(key for key in ordered if counts[key] == most), most
    ]
    names = ["n", "empty", "distinct", "shortest", "longest", "first", "last", "mode", "mode_count"]
    check("stats", [stats[name] for name in names], want)


def main():
    """Compare tables of several sizes."""
    for seed, rows in ((1, 2), (2, 30), (3, 3000)):
        rng = random.Random(seed)
        table, data = make_table(rng, rows)
        check_reduce(table, data)
        check_select(table, data, rng)
        check_text(table, data)
    print("different" if FAILED else "same")


main()
