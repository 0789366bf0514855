# One rule a notebook: it runs again when its code cells, its section of profiles.toml, the modules
# of paperlib that it uses, its data, or a notebook it comes after have changed.
# `python3 run.py figures` calls this; from an activated environment: snakemake --cores 2
import json
import sys

sys.path.insert(0, workflow.basedir)  # `workflow` is Snakemake's own object
from paperlib import workflow as flow

PROFILE = config.get("profile", "quick")
DEVICE = config.get("device", "auto")
CORES = max(1, workflow.cores or 1)
THREADS = int(config.get("threads", 1))
workflow.register_resource("timing", CORES)  # a notebook that takes timings asks for all of it
shell.executable("/bin/sh")


def done(stem):
    return str(flow.results(PROFILE) / f"{stem}.done")


rule all:
    input:
        [done(stem) for stem in flow.stems()],


for stem in flow.stems():
    timing = flow.section(stem).get("timing", False)
    if workflow.is_main_process:
        flow.forget_incomplete(stem, PROFILE)

    rule:
        name:
            stem
        input:
            # ancient: what counts of the notebook's own file is the fingerprint of its code cells
            notebook=ancient(str(flow.notebook(stem))),
            files=flow.inputs(stem),
            after=[done(other) for other in flow.section(stem).get("after", [])],
        output:
            done(stem),
        params:
            stem=stem,
            cells=flow.fingerprint(stem),
            settings=json.dumps(flow.settings(stem, PROFILE, DEVICE), sort_keys=True),
        resources:
            timing=CORES if timing else 1,
            omp=1 if timing else THREADS,
        shell:
            "OMP_NUM_THREADS={resources.omp} {sys.executable:q} -m paperlib.workflow {params.stem} {PROFILE} --device {DEVICE}"
