"""The machines whose judged figures stand in regress/calibration/, measured by microbenchmarks; and the data sheets that the
latency-hidden factor reads."""

import json
from pathlib import Path

import calibrate
from runner import CheckFailed, Gpusim, require, require_equal

MACHINES = sorted(table.stem for table in (Path(__file__).parent / "calibration").glob("*.csv"))
# Whose whole data sheets take minutes.
LARGER = ("gtx470", "gtx480", "tesla_k20x", "tesla_v100", "h100", "h200")


def check_calibrated(gpusim: Gpusim, machine: str) -> None:
    """Fails if a figure is outside its tolerance; the table is in the output."""
    if calibrate.main([str(gpusim.program), "--machine", machine]) != 0:
        raise CheckFailed("a figure is outside its tolerance")


def check_data_sheet(gpusim: Gpusim, machine: str) -> None:
    """All microbenchmarks: they find what is configured, and what the sheet in the repository says of the machine is what they find. Of larger machines
    this is looked at for operations and shared memory only, which take seconds."""
    config = gpusim.source / "configs" / f"{machine}.cfg"
    kept = gpusim.source / "analysis" / "models" / "latency_hidden" / "data_sheets" / f"{machine}.json"
    sheet = json.loads(kept.read_text())["figures"]
    require(len(sheet) >= 60, f"{len(sheet)} figures in {kept}")
    if machine in LARGER:
        found = gpusim.run("microbench", "--config", config, "--json", "--only", "operations,shared", limit_s=300).require_code(0).json()
        figures = {figure["name"]: figure for figure in found["figures"]}
        require(len(figures) >= 40, f"{len(figures)} figures")
        of_sheet = {figure["name"]: figure for figure in sheet}
        for name, figure in figures.items():
            require_equal(name, of_sheet.get(name), figure)
        return
    found = gpusim.run("microbench", "--config", config, "--json", limit_s=300).require_code(0).json()
    figures = {figure["name"]: figure for figure in found["figures"]}
    configured = [figure for figure in figures.values() if figure["configured"] is not None]
    require(len(configured) >= 60, f"{len(configured)} figures are configured")
    for figure in configured:
        apart = abs(figure["difference"]) / figure["configured"] if figure["difference"] else figure["found"] != figure["configured"]
        require(apart <= 0.04, f"{figure}")
    for figure in sheet:
        require_equal(figure["name"], figures[figure["name"]], figure)
    for name, expected, tolerance in (("latency.dram", 550, 0.05), ("bandwidth.triad", 90.6e9, 0.07)):
        require(abs(figures[name]["found"] / expected - 1) <= tolerance, f"{figures[name]}")
