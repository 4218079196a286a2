"""echelon.dist with processes as ranks: mpi4py, started by mpiexec, and torch.distributed with gloo.

SPDX-License-Identifier: Apache-2.0
"""
import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(__file__).parent / "dist_process.py")
LONG = pytest.mark.skipif(not os.environ.get("ECHELON_TEST_LONG"), reason="a long test: set ECHELON_TEST_LONG")
MODES = ["operations", pytest.param("abort", marks=LONG), pytest.param("slow", marks=LONG)]
RANKS = 2


def outputs(commands, environment=None):
    """The outputs of processes that run at the same time."""
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **(environment or {})}) for command in commands]
    found = [process.communicate(timeout=120) for process in running]
    return [out for out, _ in found], "".join(err for _, err in found)


def launcher():
    """mpiexec of the MPI library that mpi4py uses."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("there is no module mpi4py")
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None:
        pytest.skip("there is no mpiexec")
    probe = "from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())"
    found = [found, "--oversubscribe"] if "Open MPI" in subprocess.run(
        [found, "--version"], capture_output=True, text=True).stdout else [found]
    run = subprocess.run([*found, "-n", "2", sys.executable, "-c", probe], capture_output=True, text=True,
                         env={**os.environ, **ROOT})
    if "".join(run.stdout.split()) != "22":
        pytest.skip(f"mpi4py does not belong to {found[0]}: {(run.stderr.splitlines() or [run.stdout])[-1]}")
    return found


ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.fixture(scope="module")
def mpiexec():
    return launcher()


@pytest.mark.parametrize("mode", MODES)
def test_mpi4py(mpiexec, mode):
    (out,), errors = outputs([[*mpiexec, "-n", str(RANKS), sys.executable, PROGRAM, "mpi4py", mode]], ROOT)
    assert "".join(out.split()) == "ok" * RANKS, errors


@pytest.mark.parametrize("mode", MODES)
def test_library(mpiexec, mode):
    """The library of the package opens the MPI library of the mpiexec in PATH."""
    folder = Path(mpiexec[0]).parent
    if not list((folder.parent / "lib").glob("libmpi_abi.so.*")):
        pytest.skip(f"the MPI library of {folder} does not have the standard binary interface")
    (out,), errors = outputs([[*mpiexec, "-n", str(RANKS), sys.executable, PROGRAM, "library", mode]],
                             {**ROOT, "ECHELON_COMM": "libechelon_mpi.so", "ECHELON_MPI_ABI": "",
                              "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"})
    assert "".join(out.split()) == "ok" * RANKS, errors


def test_library_beside_another_mpi():
    """The MPI library of mpi4py has another binary interface: a process cannot use two."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("there is no module mpi4py")
    program = "from mpi4py import MPI; import echelon; echelon.dist.from_library('libechelon_mpi.so')"
    loaded = "from mpi4py import MPI; print(open('/proc/self/maps').read())"
    maps = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, env={**os.environ, **ROOT})
    if "libmpi_abi.so" in maps.stdout or "libmpi.so." not in maps.stdout:
        pytest.skip("mpi4py uses the standard binary interface")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env={**os.environ, **ROOT, "ECHELON_MPI_ABI": ""})
    assert "UnsupportedError" in done.stderr and "the process has loaded libmpi.so." in done.stderr, done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_torch(mode):
    if importlib.util.find_spec("torch") is None:
        pytest.skip("there is no module torch")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found, errors = outputs([[sys.executable, PROGRAM, "torch", mode, f"tcp://127.0.0.1:{port}", str(rank), str(RANKS)]
                             for rank in range(RANKS)])
    assert [out.split() for out in found] == [["ok"]] * RANKS, errors
