"""What nvcc makes of the workloads' sources gives the results that their launch files ask for."""

import shutil

from cases import Case
from check_corpus import compiled, compiler
from runner import CheckFailed, Gpusim, params, require

# CUDA 13 gives the same text for compute_90, but for the target, of each of these sources. The corpus is compiled for 75, 90 and 100.
ARCHITECTURE, NEWER = 75, 90

# CUDA 12 has no texture references any more: that PTX has no source that this nvcc takes.
WITHOUT_SOURCE = ("texture_references",)


def check_compiled(gpusim: Gpusim, case: Case) -> None:
    """Values at the launch file's size; once with timing, at the small size. Where the results depend on the target, data in
    NAME.sm_90.npy replaces NAME.npy for compute_90."""
    nvcc = compiler()
    ptx = case.ptx(gpusim.source)
    folder = gpusim.scratch / "workload"
    shutil.copytree(ptx.parent, folder)  # launch files name data and further PTX files beside them
    launch = folder / (case.launch or f"{ptx.stem}.toml")
    newer = list(folder.glob(f"{ptx.stem}_*.sm_{NEWER}.npy"))
    failures = []
    for architecture in (ARCHITECTURE, NEWER) if newer else (ARCHITECTURE,):
        runs = [("--functional", *params(case.params))]
        if architecture == ARCHITECTURE and not case.brief:
            runs.append(tuple(params(case.small)))
        if architecture == NEWER:
            for data in newer:
                data.rename(data.with_suffix("").with_suffix(".npy"))
        try:
            for name in (case.path, *case.linked):
                source = case.cuda_source(gpusim.source, name)
                compiled(nvcc, source, architecture, gpusim.scratch).rename(folder / name.rpartition("/")[2])
            for options in runs:
                report = gpusim.report(folder / ptx.name, "--launch", launch, "--out", "none", *options)
                require(len(report["expect"]) > 0, "nothing was compared")
                require(all(e["verdict"] == "pass" for e in report["expect"]), f"{report['expect']}")
        except CheckFailed as failure:
            failures.append(f"compute_{architecture}: {failure}")
    require(not failures, "\n".join(failures))
