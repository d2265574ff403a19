"""The machines whose judged figures stand in regress/calibration/, measured by microbenchmarks."""

from pathlib import Path

import calibrate
from runner import CheckFailed, Gpusim

MACHINES = sorted(table.stem for table in (Path(__file__).parent / "calibration").glob("*.csv"))


def check_calibrated(gpusim: Gpusim, machine: str) -> None:
    """Fails if a figure is outside its tolerance; the table is in the output."""
    if calibrate.main([str(gpusim.program), "--machine", machine]) != 0:
        raise CheckFailed("a figure is outside its tolerance")
