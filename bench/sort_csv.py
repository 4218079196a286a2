"""sort_csv.py - measures "echelon sort --csv" next to DuckDB, polars and GNU sort on the same CSV file.

    bench/sort_csv.py ECHELON [--lines N] [--memory MEGABYTES...] [--threads N] [--runs N] [--folder DIR] >results.csv

The file has N rows: id, key (a random integer of 31 bits), name (an English word and a number below 1000), kind (one of
1000 words).  The words are those of --words; each row is distinct, and the name has noise, because a dictionary is too
small.  The runs of the programs alternate; the shortest time counts.  A program that is not installed is left out, with
a note.

All programs read the file from the page cache and write to a file on the same disk, which is not flushed.  The time of
DuckDB and polars is that of the query, without the start of Python; that of the others is of the process.  Memory and
processor time are those that GNU time reports for the process.  polars has no option for a limit.  Each output is
compared: the key is in order, and the rows, sorted by id, are those of the input; that of echelon is byte-identical to
that of GNU sort.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import datetime
import filecmp
import importlib.util
import os
import random
import re
import subprocess
import sys
import tempfile

CASES = {  # columns, keys of echelon, keys of GNU sort
    "number": (["key"], ["-k", "key:n"], ["-k2,2n"]),
    "string": (["name"], ["-k", "name"], ["-k3,3"]),
    "two keys": (["kind", "key"], ["-k", "kind", "-k", "key:n"], ["-k4,4", "-k2,2n"]),
}
DUCKDB = """
import sys, time, duckdb
source, target, folder, threads, memory, keys = sys.argv[1:]
db = duckdb.connect(config={"threads": int(threads), "memory_limit": memory + "MB", "temp_directory": folder})
db.execute("SET enable_progress_bar = false")
start = time.perf_counter()
db.execute(f"COPY (SELECT * FROM read_csv('{source}') ORDER BY {keys}) TO '{target}' (HEADER, DELIMITER ',')")
print(time.perf_counter() - start)
"""
POLARS = """
import sys, time, polars
source, target, folder, threads, memory, keys = sys.argv[1:]
start = time.perf_counter()
polars.scan_csv(source).sort(keys.split(",")).sink_csv(target)
print(time.perf_counter() - start)
"""


def write_file(path, lines, words):
    """Distinct rows; the same on every machine with the same words."""
    rng = random.Random(20261127)
    kinds = rng.sample(words, 1000)
    with open(path, "w", encoding="utf-8") as file:
        file.write("id,key,name,kind\n")
        for i in range(lines):
            file.write(f"{i},{rng.getrandbits(31)},{rng.choice(words)}{rng.randrange(1000)},{rng.choice(kinds)}\n")


class Bench:
    def __init__(self, arguments, folder):
        self.a, self.folder = arguments, folder
        self.source = os.path.join(folder, "in.csv")
        self.programs = ["echelon", "gnu"] + [name for name in ("duckdb", "polars") if importlib.util.find_spec(name)]

    def command(self, program, case, memory, target):
        columns, own, gnu = CASES[case]
        threads = str(self.a.threads)
        if program == "echelon":
            return [self.a.echelon, "sort", "--csv", "-s", *own, "--threads", threads, "-S", f"{memory}M", "-T",
                    self.folder, self.source]
        if program == "gnu":
            options = f"--parallel={threads} -S {memory}000000b -T {self.folder} {' '.join(gnu)}"
            return ["sh", "-c", f"head -n 1 $0 && tail -n +2 $0 | sort -s -t, {options}", self.source]
        code = DUCKDB if program == "duckdb" else POLARS
        return [sys.executable, "-c", code, self.source, target, self.folder, threads, str(memory), ",".join(columns)]

    def run(self, program, case, memory):
        """Wall and processor seconds, peak memory in megabytes; a text instead of the time after a failure."""
        target = os.path.join(self.folder, program + ".csv")
        own = program in ("echelon", "gnu")
        environment = dict(os.environ, LC_ALL="C", POLARS_MAX_THREADS=str(self.a.threads), ECHELON_DEVICE="cpu",
                           POLARS_TEMP_DIR=self.folder)
        usage = target + ".usage"
        measured = ["/usr/bin/time", "-q", "-o", usage, "-f", "%e %U %S %M"]
        with open(target if own else target + ".time", "wb") as out, open(target + ".err", "wb") as err:
            status = subprocess.run(measured + self.command(program, case, memory, target), stdout=out, stderr=err,
                                    env=environment, check=False).returncode
        if status:
            return "failed", 0, 0
        wall, user, system, peak = map(float, open(usage, encoding="ascii").read().split())
        if not own:
            wall = float(open(target + ".time", encoding="ascii").read())
        return wall, user + system, peak * 1.024e-3

    def check(self, program, case):
        """Compares the output of a program with the input, or with GNU sort's."""
        target = os.path.join(self.folder, program + ".csv")
        if program == "echelon":
            return filecmp.cmp(target, os.path.join(self.folder, "gnu.csv"), shallow=False)
        if program == "gnu":
            return True
        import polars
        got, given = polars.read_csv(target), polars.read_csv(self.source)
        keys = got.select(CASES[case][0])
        return keys.equals(keys.sort(CASES[case][0])) and got.sort("id").equals(given)

    def measure(self, case, memory):
        best = {}
        for _ in range(self.a.runs):
            for program in self.programs:
                result = self.run(program, case, memory)
                if program not in best or (result[0] != "failed" and result[0] < best[program][0]):
                    best[program] = result
        for program, (wall, cpu, peak) in best.items():
            if wall == "failed":
                print(f"{case},{self.a.lines},{memory},{program},failed,,,{os.getloadavg()[0]:.0f}", flush=True)
                continue
            if not self.check(program, case):
                sys.exit(f"sort_csv.py: {program}: the output of {case} is wrong")
            print(f"{case},{self.a.lines},{memory},{program},{wall:.2f},{cpu:.2f},{peak:.0f},{os.getloadavg()[0]:.0f}",
                  flush=True)


def version(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]


def describe(bench):
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="ascii").read())
    names = [version([bench.a.echelon, "--version"]), version(["sort", "--version"])]
    names += [f"{name} {importlib.import_module(name).__version__}" for name in bench.programs[2:]]
    print(f"# {datetime.date.today()}, {model.group(1) if model else 'processor unknown'}, {bench.a.threads} threads; "
          f"{'; '.join(names)}; {os.path.getsize(bench.source)} bytes; best of {bench.a.runs}")
    for name in ("duckdb", "polars"):
        if name not in bench.programs:
            print(f"# {name} is not installed")
    print("case,lines,memory_mb,program,seconds,cpu_seconds,peak_mb,load", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("echelon")
    parser.add_argument("--lines", type=int, default=10**7)
    parser.add_argument("--memory", type=int, nargs="+", default=[4000, 250])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", default=".")
    parser.add_argument("--words", default="/usr/share/dict/words")
    arguments = parser.parse_args()
    words = open(arguments.words, encoding="utf-8").read().split()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        bench = Bench(arguments, folder)
        write_file(bench.source, arguments.lines, words)
        describe(bench)
        for memory in arguments.memory:
            for case in CASES:
                bench.measure(case, memory)


if __name__ == "__main__":
    main()
