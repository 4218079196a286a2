#!/usr/bin/env python3
"""gpu_truth.py OUT_DIR - writes faults.csv and patterns.csv from the logs of gpu_truth.sh.

SPDX-License-Identifier: Apache-2.0
"""
import csv
import datetime
import pathlib
import re
import sys

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
# The counters that correspond to the columns of patterns.def. Counters with "sass" do not count instructions that are
# issued without active lanes.
COUNTERS = {
    "global_load_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",),
    "global_load_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",),
    "global_store_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",),
    "global_store_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",),
    "global_atomic_requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
                               "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"),
    "global_atomic_sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
                              "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"),
    "shared_load_requests": ("smsp__sass_inst_executed_op_shared_ld.sum",),
    "shared_load_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",),
    "shared_store_requests": ("smsp__sass_inst_executed_op_shared_st.sum",),
    "shared_store_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",),
    "shared_atomic_requests": ("smsp__sass_inst_executed_op_shared_atom.sum",),
    "shared_atomic_wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",),
    "barriers": ("BAR",),
    "divergent_gpu": ("smsp__sass_branch_targets_threads_divergent.sum",),
}


def text(path):
    return path.read_text(errors="replace") if path.exists() else ""


def head(logs, command):
    machine, cuda, sanitizer, ncu = (text(logs / name).strip() for name in
                                     ("machine", "cuda", "sanitizer", "ncu"))
    gpu, driver = (machine.split(", ") + [""])[:2]
    return (f"# {datetime.date.today()}; by scripts/gpu_truth.sh; {command}\n"
            f"# device: {gpu}; driver {driver}; CUDA {cuda}; compute-sanitizer {sanitizer}; "
            f"Nsight Compute {ncu}\n")


def finding(log):
    """The number of findings that the tool reports, and its first message."""
    if "== exit 124" in log or "== exit 137" in log:
        return "timeout", ""
    summary = re.search(r"(ERROR|RACECHECK) SUMMARY: (.*)", log)
    said = [line[10:].strip() for line in log.splitlines() if re.match(r"={9} \S", line)
            and "SUMMARY" not in line and "COMPUTE-SANITIZER" not in line]
    if not summary:
        return "none reported", said[0] if said else log.strip().splitlines()[-1]
    hazards = [line for line in said if re.match(r"(Error|Warning|Info): ", line)]
    return hazards and len(hazards) or int(summary[2].split()[0]), said[0] if said else ""


def faults(out):
    logs = out / "logs"
    columns = ["kernel", "expect", "tool", "plain", "checksum", *TOOLS,
               *(f"{tool}_says" for tool in TOOLS)]
    with open(out / "faults.csv", "w", newline="") as file:
        file.write(head(logs, "each kernel of tests/simt/faults.def; the counts are those of the tools; "
                              "racecheck counts one hazard per byte"))
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in csv.DictReader(open(logs / "faults.list")):
            kernel, gpu = row["kernel"], row.pop("gpu")
            if gpu == "1":
                plain = text(logs / f"plain.{kernel}")
                match = re.search(rf"^{kernel},(\w+),(\w+)$", plain, re.M)
                row["plain"], row["checksum"] = match.groups() if match else ("timeout", "")
                for tool in TOOLS:
                    row[tool], row[f"{tool}_says"] = finding(text(logs / f"{tool}.{kernel}"))
            else:
                row["plain"] = "not run"
            writer.writerow(row)


def number(cell):
    cell = (cell or "").split(";")[0].split("(")[0].replace(",", "").strip()
    return int(float(cell)) if cell else None


def launches(path):
    """One dictionary per kernel of a report, in the order of the launches."""
    lines = [line for line in text(path).splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))[1:]  # the first has the units
    return sorted(rows, key=lambda row: int(row["ID"]))


def opcode(row, name):
    cell = next((row[key] for key in row if key.startswith("sass__inst_executed_per_opcode")
                 and "with_modifier" not in key), "")
    match = re.search(rf"\b{name}\b[^\d]*([\d,]+)", cell)
    return int(match[1].replace(",", "")) if match else 0


def patterns(out):
    logs = out / "logs"
    counted, opcodes = launches(logs / "ncu.csv"), launches(logs / "opcodes.csv")
    results = [line.split(",") for line in text(logs / "patterns.results").splitlines()]
    listed = list(csv.DictReader(open(logs / "patterns.list")))
    others = [key for key in (counted[0] if counted else {}) if re.match(r"(l1tex|smsp)__.*\.sum$", key)]
    columns = [*listed[0], "result", "checksum", "disagree", "barriers_ncu",
               *(name for name in others)]
    with open(out / "patterns.csv", "w", newline="") as file:
        file.write(head(logs, "each row of tests/simt/patterns.def with its expected counts; "
                              "`disagree` lists the counters that differ"))
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for i, row in enumerate(listed):
            row["p"] = re.sub(r"PLANTED_INDEX\((\d+), (\d+), (\d+), (\d+)\)",
                              r"lane / \1 % \2 * \3 + \4", row["p"])
            seen = counted[i] if i < len(counted) else {}
            assert not seen or seen["Kernel Name"] == row["kernel"]
            row.update({name: number(seen.get(name)) for name in others})
            if i < len(opcodes):
                row["barriers_ncu"] = row["BAR"] = opcode(opcodes[i], "BAR")
            row["disagree"] = " ".join(
                f"{name}:{sum(row[key] for key in keys)}" for name, keys in COUNTERS.items()
                if all(row.get(key) is not None for key in keys)
                and sum(row[key] for key in keys) != int(row[name]))
            row.pop("BAR", None)
            row["result"], row["checksum"] = results[i][1:] if i < len(results) else ("", "")
            writer.writerow(row)
            if row["disagree"]:
                print(f"{row['kernel']} {row['p']}: {row['disagree']}")


if __name__ == "__main__":
    faults(pathlib.Path(sys.argv[1]))
    patterns(pathlib.Path(sys.argv[1]))
