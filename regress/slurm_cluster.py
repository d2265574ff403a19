"""A Slurm cluster of one node, for tests: munged, slurmctld and slurmd on the loopback interface, without systemd, all files in one
folder. Debian's packages: slurm-wlm and munge."""

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from runner import NoCompiler

CONFIG = """ClusterName=gpusim
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdTimeout=10
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
START_S = 60


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class SlurmCluster:
    """Running inside `with`. Commands of Slurm find it by the environment that `environment()` gives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = "/usr/sbin:/usr/bin:/sbin:/bin"
        missing = [name for name in PROGRAMS if shutil.which(name, path=self.path) is None]
        if missing:
            raise NoCompiler(f"{', '.join(missing)} not installed (Debian: slurm-wlm, munge)")

    def environment(self) -> dict[str, str]:
        return os.environ | {"PATH": f"{os.environ['PATH']}:{self.path}", "SLURM_CONF": str(self.folder / "slurm.conf")}

    def command(self, *words: str) -> str:
        done = subprocess.run(words, env=self.environment(), capture_output=True, text=True, check=False, timeout=START_S)
        return done.stdout

    def start_daemon(self, *words: str) -> None:
        done = subprocess.run(words, env=self.environment(), capture_output=True, text=True, check=False, timeout=START_S)
        if done.returncode != 0:
            raise NoCompiler(f"{words[0]} does not start here: {done.stderr.strip()}")

    def start_node(self) -> None:
        self.start_daemon("slurmd")
        end = time.monotonic() + START_S
        while "idle" not in self.command("sinfo", "--noheader", "--format=%T"):
            if time.monotonic() > end:
                raise NoCompiler(f"the node of the cluster does not come up:\n{(self.folder / 'slurmd.log').read_text()[-2000:]}")
            time.sleep(0.2)

    def __enter__(self) -> "SlurmCluster":
        self.folder.mkdir(mode=0o700)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        (self.folder / "slurm.conf").write_text(CONFIG.format(host=host, user=user, folder=self.folder, control_port=free_port(),
                                                              node_port=free_port(), cpus=os.cpu_count() or 1))
        try:
            self.start_daemon("munged", "--force", f"--key-file={key}", *(f"--{name}-file={self.folder / f'munge.{name}'}"
                                                                           for name in ("pid", "log", "seed")),
                              f"--socket={self.folder / 'munge.sock'}")
            self.start_daemon("slurmctld")
            self.start_node()
        except BaseException:
            self.__exit__()
            raise
        return self

    def kill_node(self) -> None:
        """kill -9 of slurmd and of the steps that it has started, as if the computer had gone."""
        for pattern in ("slurmstepd", f"slurmd.*{self.folder}", "slurmd$"):
            for process in self.of_cluster(pattern):
                os.kill(process, 9)

    def of_cluster(self, pattern: str) -> list[int]:
        """Processes whose command line matches and whose environment or files are of this cluster."""
        found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True, check=False).stdout.split()
        mine = []
        for process in map(int, found):
            try:
                environment = Path(f"/proc/{process}/environ").read_bytes()
            except OSError:
                continue
            if str(self.folder).encode() in environment:
                mine.append(process)
        return mine

    def __exit__(self, *_: object) -> None:
        self.command("scancel", "--user", str(os.getuid()))
        for name in ("slurmd", "slurmctld", "munge"):
            file = self.folder / f"{name}.pid"
            if file.exists():
                try:
                    os.kill(int(file.read_text()), 9)
                except (ValueError, ProcessLookupError):
                    pass
        for process in self.of_cluster("slurmstepd"):
            os.kill(process, 9)
