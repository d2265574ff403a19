"""What nvcc makes of the workloads' sources, for each architecture, gives the results that their launch files ask for."""

import shutil

from cases import Case
from check_corpus import compiled, compiler
from runner import CheckFailed, Gpusim, params, require

# The corpus is compiled for compute_100 as well; the same sources give nearly the same PTX for it.
ARCHITECTURES = (75, 90)

# CUDA 12 has no texture references any more: that PTX has no source that this nvcc takes.
WITHOUT_SOURCE = ("texture_references",)


def check_compiled(gpusim: Gpusim, case: Case) -> None:
    """Values for each architecture, at the launch file's size; once with timing, at the small size. Data in NAME.sm_90.npy
    replaces NAME.npy from that architecture on."""
    nvcc = compiler()
    ptx = case.ptx(gpusim.source)
    folder = gpusim.scratch / "workload"
    shutil.copytree(ptx.parent, folder)  # launch files name data and further PTX files beside them
    launch = folder / (case.launch or f"{ptx.stem}.toml")
    failures = []
    for architecture in ARCHITECTURES:
        runs = [("--functional", *params(case.params))]
        if architecture == ARCHITECTURES[0] and not case.brief:
            runs.append(tuple(params(case.small)))
        for newer in folder.glob(f"*.sm_{architecture}.npy"):
            newer.rename(newer.with_suffix("").with_suffix(".npy"))
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
