"""A real Slurm of one node for tests, with all its files in one temporary folder and without accounting storage."""

import contextlib
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from waiting import free_ports, wait

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
# More cores than the machine has, so that jobs need not wait for each other.
CONFIG = """ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={at}/munge.socket
CredType=cred/munge
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
KillWait=5
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=8 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextlib.contextmanager
def one_node():
    """Start munged, slurmctld and slurmd, yield their processes by name, and stop them; SLURM_CONF names the configuration."""
    path = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))
    if lacks := [name for name in PROGRAMS if not shutil.which(name, path=path)]:
        pytest.skip(f"needs {', '.join(lacks)} on PATH (on Debian: packages slurm-wlm and munge)")
    with contextlib.ExitStack() as stack:
        # pytest's folders have long names, and the path of a socket has at most 107 characters.
        at = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm")))
        at.chmod(0o711)  # munged requires a folder that every user may pass through
        for name in ("state", "spool"):
            (at / name).mkdir()
        (at / "key").write_bytes(secrets.token_bytes(64))
        (at / "key").chmod(0o600)
        user, host = getpass.getuser(), socket.gethostname().split(".")[0]
        config = at / "slurm.conf"
        config.write_text(CONFIG.format(at=at, host=host, user=user, ports=free_ports(2)))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("SLURM_CONF", str(config))
        # Snakemake removes SLURM_CONF from the environment of a job, before it calls srun.
        (at / "bin").mkdir()
        srun = at / "bin/srun"
        srun.write_text(f'#!/bin/sh\nSLURM_CONF={config} exec {shutil.which("srun")} "$@"\n')
        srun.chmod(0o755)
        patch.setenv("PATH", f"{at / 'bin'}{os.pathsep}{os.environ['PATH']}")
        munge = ["--key-file", at / "key", "--socket", at / "munge.socket"]
        for name in ("pid", "log", "seed"):
            munge += [f"--{name}-file", at / f"munge.{name}"]
        started = {}
        for argv in (["munged", "-F", *munge], ["slurmctld", "-D"], ["slurmd", "-D"]):
            name = argv[0]
            log = stack.enter_context(open(at / f"{name}.log", "w"))
            process = subprocess.Popen(
                [shutil.which(name, path=path), *argv[1:]], stdout=log, stderr=log
            )
            stack.callback(stop, process)
            started[name] = process
            if name == "munged":
                wait(10, "munged opens its socket", (at / "munge.socket").exists)
        idle = lambda: "idle" in output("sinfo", "--noheader", "--format=%T")
        try:
            wait(30, "the node of Slurm is idle", idle)
        except AssertionError as error:
            logs = "".join(f"{name}:\n{(at / f'{name}.log').read_text()}" for name in started)
            raise AssertionError(f"{error}\n{logs}") from None
        stack.callback(lambda: started["slurmctld"].poll() is None and end_jobs(user))
        yield started


def end_jobs(user):
    """Cancel all jobs and wait until they have ended, because they would outlive the daemons."""
    output("scancel", f"--user={user}")
    wait(30, "all jobs end", lambda: not output("squeue", "--noheader"))


def stop(process):
    """End a daemon."""
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def output(*argv):
    """Return the output of a command of Slurm."""
    return subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout
