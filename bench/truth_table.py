#!/usr/bin/env python3
"""truth_table.py - generates the tables about the SIMT emulator (src/simt) in Markdown files: its findings
and counters for the planted kernels compared with those of a GPU and NVIDIA's tools, and its speed.

    bench/truth_table.py docs/simt.md              rewrites the text between markers
    bench/truth_table.py --check docs/simt.md      fails if a table differs from the CSV files

Markers in a file:

    <!-- truth:begin faults GPU.csv EMULATOR.csv -->      a row per planted fault
    <!-- truth:begin patterns GPU.csv EMULATOR.csv -->    the counters of each launch
    <!-- truth:begin speed FILE.csv KIND -->              the rows of one kind
    <!-- truth:end -->

The files are in bench/results.  scripts/gpu_truth.sh writes GPU.csv, `test_simt --csv` EMULATOR.csv, and
bench_simt FILE.csv.  Differences between GPU and emulator are in bold, and counted in the sentence above
the table.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT.parent / "scripts"))
sys.dont_write_bytecode = True
import markers  # noqa: E402
from gpu_truth import COUNTERS, TOOLS  # noqa: E402

RESULTS = ROOT / "results"
MARKERS = re.compile(r"(<!-- truth:begin(?P<what>[^>]*)-->\n).*?(<!-- truth:end -->)", re.S)

# The fault in each kernel of tests/simt/faults.def, and its correct twin if that is not NAME_ok.
PLANTED = {
    "race_raw_across": ("a warp reads what another warp wrote, without a barrier",),
    "race_raw_warp": ("a lane reads what its neighbour wrote, without `__syncwarp()`",),
    "race_war": ("a warp overwrites what another warp has not read yet",),
    "race_waw": ("two warps write different values to one word",),
    "race_waw_same": ("two warps write the same value: harmless", None),
    "race_waw_lanes": ("32 lanes write different values to one word",),
    "race_overlap": ("one byte is read of 16 bytes that another warp writes",),
    "race_loop": ("the second barrier of a loop is missing",),
    "lost_shared": ("`s[0] +=` by every thread, shared memory",),
    "lost_global": ("`out[0] +=` by every thread, global memory",),
    "mixed_shared": ("`atomicAdd()` and a plain read, shared memory",),
    "mixed_global": ("`atomicAdd()` and a plain read, global memory",),
    "mixed_strength": ("`atomicExch()` and a plain and a volatile read",),
    "race_waw_same_then_other": ("two warps write the same value, then one warp a different value",),
    "parts_bytes_shared": ("threads change bytes of shared words without a barrier between rounds, shared memory",),
    "parts_halves_shared": ("the same with 16-bit halves, shared memory",),
    "parts_bytes_global": ("the same with bytes, global memory",),
    "parts_halves_global": ("the same with 16-bit halves, global memory",),
    "race_shuffle": ("a shuffle instead of `__syncwarp()`",),
    "race_ballot": ("a ballot instead of `__syncwarp()`",),
    "barrier_half_block": ("one warp skips a barrier", "barrier_some_ok"),
    "barrier_half_warp": ("half of each warp skips a barrier", "barrier_some_ok"),
    "barrier_returned": ("a warp has returned before the barrier: defined",),
    "barrier_returned_warp": ("half of each warp has returned: defined", "barrier_returned_ok"),
    "barrier_two_lines": ("two warps wait at barriers in different lines",),
    "barrier_two_lines_warp": ("the halves of a warp wait at barriers in different lines", "barrier_two_lines_ok"),
    "barrier_counts": ("one warp reaches a barrier more often than the other",),
    "bounds_shared_read": ("read past the end of shared memory",),
    "bounds_shared_write": ("write past the end of shared memory",),
    "bounds_read": ("read past the end of an array",),
    "bounds_write": ("write past the end of an array",),
    "bounds_atomic": ("`atomicAdd()` past the end of an array",),
    "bounds_before": ("read before the beginning of an array",),
    "bounds_vector": ("the last 8 bytes of a 16-byte read are past the end",),
    "misaligned_global": ("16 bytes at a 4-byte-aligned address, global memory",),
    "misaligned_shared": ("16 bytes at a 4-byte-aligned address, shared memory",),
    "uninitialized_shared": ("uninitialised read of shared memory",),
    "uninitialized_global": ("uninitialised read of global memory",),
    "uninitialized_atomic": ("`atomicAdd()` to a sum that was not set to 0",),
    "uninitialized_atomic_global": ("the same in global memory",),
    "mask_lacks_self": ("a shuffle whose mask lacks a calling lane",),
    "mask_ballot": ("a ballot whose mask lacks a calling lane",),
    "mask_half_lacks_self": ("a shuffle in half a warp whose mask lacks a calling lane", "mask_half_ok"),
    "mask_outside": ("a shuffle from a lane that is not in the mask", "mask_half_ok"),
    "mask_absent": ("the mask includes lanes that wait elsewhere", "mask_half_ok"),
    "mask_exited": ("a shuffle from a lane that has returned",),
    "mask_two_lines": ("the halves of a warp shuffle in different lines",),
    "mask_differs": ("the lanes of one shuffle pass different masks",),
    "race_global": ("a warp reads what another warp wrote, global memory",),
    "race_blocks": ("a block reads what another block wrote",),
    "race_blocks_write": ("two blocks write different values",),
    "race_blocks_same": ("two blocks write the same values: harmless", None),
    "lookback_no_release": ("no fence between data and flag", "lookback_ok"),
    "lookback_no_acquire": ("no fence between flag and data", "lookback_ok"),
    "lookback_flag_first": ("the flag is set before the data", "lookback_ok"),
    "lookback_read_early": ("the data is read before the flag", "lookback_ok"),
    "lookback_atomic": ("an atomic flag without fences",),
    "lookback_no_gather": ("no barrier before thread 0 sets the flag for its block", "lookback_all_ok"),
    "lookback_no_scatter": ("no barrier after thread 0 has read the flag for its block", "lookback_all_ok"),
    "lookback_half_hears": ("lane 0 reads the flag for 16 lanes, no `__syncwarp()` after it",),
    "lookback_half_tells": ("lane 0 sets the flag for 16 lanes, no `__syncwarp()` before it",),
    "lookback_block_fence": ("`__threadfence_block()` between blocks",),
    "lookback_block_release": ("`__threadfence_block()` between data and flag only", "lookback_block_fence_ok"),
    "lookback_block_acquire": ("`__threadfence_block()` between flag and data only", "lookback_block_fence_ok"),
    "block_fence_shared": ("a flag without fences within a block, shared memory",),
    "block_fence_global": ("a flag without fences within a block, global memory",),
    "block_fence_mixed_ok": ("no fault: data in global memory, its flag in shared memory", None),
    "lookback_other_tells": ("data is written after its thread's fence, and another thread sets the flag",),
    "lookback_other_fences": ("the same, and the other thread has executed a fence",),
    "lock_no_fence": ("a lock without fences", "lock_ok"),
    "copy_no_wait": ("asynchronous copies that no thread waits for", "copy_ok"),
    "copy_no_commit": ("the wait does not include a copy without a commit", "copy_ok"),
    "copy_no_barrier": ("no barrier after the wait for an asynchronous copy", "copy_ok"),
    "copy_wait_late": ("the barrier is before the wait for an asynchronous copy", "copy_ok"),
    "copy_group": ("the wait includes one group too few",),
    "copy_ring": ("the same in a ring of two slots",),
    "bulk_no_wait": ("a bulk copy that no thread waits for", "bulk_ok"),
    "bulk_parity": ("a wait for the wrong phase of a bulk copy", "bulk_ok"),
    "deadlock_spin": ("waits for a flag that no thread sets",),
    "deadlock_grid": ("a grid barrier that one block never reaches",),
    "deadlock_barrier": ("a flag is set after a barrier that its reader must reach first",),
    "launch_bounds": ("more threads than `__launch_bounds__()`",),
    "launch_threads": ("1025 threads in a block",),
    "launch_shared": ("16 bytes more shared memory than available",),
}

# The word of faults.def for each fault that the emulator reports.
WORDS = {
    "race": "race",
    "read of unwritten memory": "uninitialized",
    "uninitialised read": "uninitialized",
    "out of bounds": "bounds",
    "misaligned access": "misaligned",
    "divergent barrier": "divergent_barrier",
    "wrong lanes": "mask",
    "deadlock": "deadlock",
    "too large a launch": "launch",
    "trap": "trap",
    "stack overflow": "stack",
}


# ---- CSV ----

def read(name):
    """The "#" lines as one line, and the rows as dictionaries."""
    lines = (RESULTS / name).read_text().splitlines()
    about = [line.lstrip("# ").strip() for line in lines if line.startswith("#")]
    rows = csv.DictReader(line for line in lines if line and not line.startswith("#"))
    return markers.about("; ".join(about)), list(rows)


def number_of(p):
    """A pattern's parameter packed as in simt/planted.h, from the text that gpu_truth.py made of it."""
    index = re.fullmatch(r"lane / (\d+) % (\d+) \* (\d+) \+ (\d+)", p)
    if not index:
        return int(p, 0)
    divide, modulo, stride, offset = map(int, index.groups())
    return divide | modulo << 8 | stride << 16 | offset << 24


def join(head, rows):
    marks = ["---:" if name.endswith(" ") else "---" for name in head]
    lines = [[name.strip() for name in head], marks, *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


# ---- Faults ----

def tools_say(row):
    """The findings of a GPU and its tools as text, and whether there are none."""
    if row["plain"] == "not run":
        return "not run: never ends", True
    said = []
    for tool in TOOLS:
        if row[tool] in ("", "0"):
            continue
        level = re.match(r"(Warning|Info): ", row[f"{tool}_says"])
        said.append(f"{tool}: {row[tool]}{' (' + level[1].lower() + ')' if level else ''}")
    if not said and row["plain"].startswith("cudaError"):
        said.append(f"the launch fails: {row['plain']}")
    return "; ".join(said) or "not detected", not said


def right(expect, found):
    """Whether a finding is one of the expected ones."""
    if expect == "benign":
        return True
    words = {WORDS.get(one, one) for one in found.split(" + ")}
    return found == "none" if expect == "none" else bool(words & set(expect.split()))


def name_all(kernels):
    return ", ".join(f"`{kernel}`" for kernel in kernels)


def shown(found):
    return found.replace("read of unwritten memory", "uninitialised read").replace("none", "nothing")


def faults(gpu_name, emulator_name):
    about, rows = read(gpu_name)
    about_emulator, emulator = read(emulator_name)
    gpu = {row["kernel"]: row for row in rows}
    found = {row["kernel"]: row["found"] for row in emulator if row["kind"] == "fault"}
    planted, harmless, correct = [], [], []  # kernels in which a fault must, may and must not be found
    for row in rows:
        # The emulator finds "yield" and "weak" by their results.
        of = {"none": correct, "benign": harmless, "yield": [], "weak": []}.get(row["expect"], planted)
        of.append(row)
    here = {kernel: found.get(kernel, "not run") for kernel in gpu}
    missed = [row["kernel"] for row in planted if not right(row["expect"], here[row["kernel"]])]
    false_alarms = [row["kernel"] for row in correct if here[row["kernel"]] != "none"]
    reported = [row["kernel"] for row in harmless if here[row["kernel"]] != "none"]

    def twin_says(kernel):
        row = gpu[kernel]
        wrong = [] if row["plain"] == "ok" and all(row[tool] == "0" for tool in TOOLS) \
            else ["not on the GPU"]
        wrong += [f"emulator: {shown(here[kernel])}"] if kernel in false_alarms else []
        return f"**{', '.join(wrong)}**" if wrong else "yes"

    table, twins = [], set()
    for row in planted + harmless:
        kernel = row["kernel"]
        phrase, *other = PLANTED.get(kernel, ("**not described in bench/truth_table.py**", None))
        twin = other[0] if other else f"{kernel}_ok"
        twins.add(twin)
        says = shown(here[kernel])
        table.append([f"`{kernel}`", phrase, tools_say(row)[0],
                      f"**{says}**" if kernel in missed + reported else says,
                      twin_says(twin) if twin else "-"])
    for row in correct:
        if row["kernel"] not in twins:
            phrase = PLANTED.get(row["kernel"], ("no fault, no twin",))[0]
            table.append([f"`{row['kernel']}`", phrase,
                          tools_say(row)[0], shown(here[row["kernel"]]),
                          twin_says(row["kernel"])])
    unrun = sum(row["plain"] == "not run" for row in planted)
    by_tools = sum(not tools_say(row)[1] for row in planted)
    sentences = [
        f"The emulator finds {len(planted) - len(missed)} of {len(planted)} planted faults"
        f"{f', but not {name_all(missed)}' if missed else ''}. NVIDIA's tools and driver find "
        f"{by_tools}; {unrun} were not run on the GPU, because they never end.",
        f"The emulator reports {len(false_alarms) or 'none'} of {len(correct)} correct kernels"
        f"{f': {name_all(false_alarms)}' if false_alarms else ''}, and {len(reported) or 'none'} of "
        f"{len(harmless)} kernels with harmless races{f': {name_all(reported)}' if reported else ''}."]
    if set(found) - set(gpu):
        sentences.append(f"**Not run on the GPU: {name_all(sorted(set(found) - set(gpu)))}.**")
    head = ["kernel", "planted fault", "compute-sanitizer", "emulator", "twin without findings"]
    return "\n".join([f"GPU: {about}.", "", f"Emulator: {about_emulator}.", "",
                      " ".join(sentences), "", *join(head, table)])


# ---- Patterns ----

SHORT = {
    "global_load_requests": "global loads", "global_load_sectors": "their sectors",
    "global_store_requests": "global stores", "global_store_sectors": "their sectors",
    "global_atomic_requests": "global atomics", "global_atomic_sectors": "their sectors",
    "shared_load_requests": "shared loads", "shared_load_wavefronts": "their wavefronts",
    "shared_store_requests": "shared stores", "shared_store_wavefronts": "their wavefronts",
    "shared_atomic_requests": "shared atomics", "shared_atomic_wavefronts": "their wavefronts",
    "barriers": "barriers", "divergent_gpu": "divergent branches",
}


def on_gpu(row):
    """The measured counters, not the expected ones."""
    return [sum(int(row["barriers_ncu" if key == "BAR" else key]) for key in keys)
            for keys in COUNTERS.values()]


def words_of(counts):
    """`global loads 4, 16; barriers 4`: requests with their cost, without zeros."""
    names, said = list(COUNTERS), []
    for i, name in enumerate(names):
        if SHORT[name].startswith("their") or not counts[i]:
            continue
        cost = i + 1 < len(names) and SHORT[names[i + 1]].startswith("their")
        said.append(f"{SHORT[name]} {counts[i]}{f', {counts[i + 1]}' if cost else ''}")
    return "; ".join(said) or "nothing"


def difference(gpu, here):
    said = []
    for i, name in enumerate(COUNTERS):
        if gpu[i] == here[i]:
            continue
        of = SHORT[name] if not SHORT[name].startswith("their") else \
            f"{SHORT[list(COUNTERS)[i - 1]]}: {SHORT[name]}"
        said.append(f"{of} {here[i]}, GPU {gpu[i]}")
    return "; ".join(said)


def why(row, gpu, here):
    """The reason, if two rows differ only in the branches that the GPU's compiler removed."""
    if gpu[:-1] != here[:-1]:
        return ""
    if here[-1] == int(row["divergent"]):
        return "nvcc predicates branches of the source"
    return ""


def patterns(gpu_name, emulator_name):
    _, rows = read(gpu_name)
    found = {}
    for row in read(emulator_name)[1]:
        if row["kind"] == "pattern":
            found[row["kernel"], int(row["p"])] = [int(word) for word in row["found"].split()]
    groups, differ, details, compared = {}, [], [], 0
    for row in rows:
        key = row["kernel"], number_of(row["p"])
        gpu, here = on_gpu(row), found.pop(key, None)
        group = groups.setdefault(row["kernel"], [0, 0])
        group[0] += 1
        compared += 1
        label = [f"`{row['kernel']}`", row["p"]]
        if here == gpu:
            group[1] += 1
            details.append([*label, words_of(gpu), "equal"])
            continue
        said = difference(gpu, here) if here else "not run"
        differ.append([*label, f"**{said}**", here and why(row, gpu, here) or "**not explained**"])
        details.append([*label, words_of(gpu), f"**{said}**"])
    agree = sum(group[1] for group in groups.values())
    unexplained = sum(row[3] == "**not explained**" for row in differ)
    lines = [f"{compared} launches with {len(COUNTERS)} counters each. All counters of emulator and GPU are "
             f"equal in {agree} launches; {len(differ)} launches differ, {unexplained or 'none'} of them "
             "for an unknown reason." + (f" **Not on the GPU: {sorted(found)}.**" if found else ""),
             ""]
    if differ:
        lines += [*join(["kernel", "parameter", "emulator, GPU", "reason"], differ), ""]
    lines += [*join(["kernel", "launches ", "all equal "],
                    [[f"`{name}`", str(all_), str(same) if same == all_ else f"**{same}**"]
                     for name, (all_, same) in groups.items()]), "",
              "<details><summary>Every launch: the number of requests, and after a comma their "
              "sectors or wavefronts</summary>", "",
              *join(["kernel", "parameter", "GPU", "emulator"], details), "", "</details>"]
    return "\n".join(lines)


# ---- Speed ----

def amount(value):
    """Three digits, with a letter for 10^3, 10^6, 10^9."""
    for unit, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{letter}"
    return f"{value:.3g}"


def speed(name, kind):
    """A row for each case, a column for each set of options; cells are median rates."""
    about, rows = read(name)
    rows = [row for row in rows if row["kind"] == kind]
    if kind == "process":
        return "\n".join(join(["u32 keys ", "options", "seconds ", "peak memory "], [
            [amount(float(row["n"])), f"`{row['options']}`", f"{float(row['seconds']):.2f}",
             f"{int(row['peak_bytes']) / 1e6:.0f} MB"] for row in rows]))
    options = list(dict.fromkeys(row["options"] for row in rows))
    cells = {}
    for row in rows:
        cells.setdefault((row["case"], row["n"]), {})[row["options"]] = row
    table = []
    for (case, n), of in cells.items():
        unit = next(iter(of.values()))["unit"]
        table.append([case.replace("_", " "), amount(float(n)) if kind == "sort" else n, unit,
                      *(amount(float(of[o]["per_second"])) if o in of else "" for o in options)])
    what = "elements " if kind == "sort" else "threads per block "
    head = ["case", what, "unit per second", *(f"`{o}` " for o in options)]
    return "\n".join([f"{about}.", "", *join(head, table)])


# ---- Texts ----

def rewrite(text):
    def section(match):
        kind, *words = match["what"].split()
        body = {"faults": faults, "patterns": patterns, "speed": speed}[kind](*words)
        return f"{match[1]}\n{body}\n\n{match[3]}"

    return MARKERS.sub(section, text)


if __name__ == "__main__":
    sys.exit(markers.main("truth_table.py", rewrite))
