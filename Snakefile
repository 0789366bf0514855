# One rule a notebook: it runs again when its code cells, its section of profiles.toml, the modules
# of paperlib that it uses, its data, or a notebook it comes after have changed. One more where its
# experiments are shared among shards, which run first and for the same reasons.
# `python3 run.py figures` calls this; from an activated environment: snakemake --cores 2
import json
import os
import sys

sys.path.insert(0, workflow.basedir)  # `workflow` is Snakemake's own object
from companion.workflow import declared, plan as flow

PROFILE = config.get("profile", "quick")
DEVICE = config.get("device", "auto")
THREADS = int(config.get("threads", 1))
CORES = workflow.resource_settings.cores or 1
if workflow.resource_settings.cores:  # on a cluster there is no number: a job has a node, or a part of one
    workflow.register_resource("timing", CORES)  # a notebook that takes timings asks for all of it
shell.executable("/bin/sh")
JOB = "OMP_NUM_THREADS={resources.omp} {sys.executable:q} -m companion.workflow.jobs {params.stem:q} {PROFILE} --device {DEVICE} --attempt {resources.attempt}"


# custom runs have a place of their own, and run.py must know of them
PLACES = {stem: declared.output_place(stem, PROFILE) for stem in flow.notebook_stems()}
if workflow.is_main_process:
    for said in flow.note_custom(PROFILE):
        print(said, flush=True)


def done(stem, part=""):
    return str(flow.profile_results(PLACES[stem]) / f"{stem}{part}.done")


def here(name):  # inputs are named from the project's folder, which is another one where that is read-only
    return name if os.path.isabs(name) else os.path.relpath(flow.project_dir() / name)


rule all:
    input:
        [done(stem) for stem in flow.notebook_stems()],


for stem in flow.notebook_stems():
    timing = flow.read_section(stem).get("timing", False)
    shards = flow.shard_count(stem, PROFILE)
    parts = [done(stem, f".shard{k}of{shards}") for k in range(1, shards + 1)] if shards > 1 else []
    # ancient: what counts of the notebook's own file is the fingerprint of its code cells
    file = ancient(str(declared.notebook_path(stem)))
    files = flow.input_files(stem)
    names = flow.cell_imports(stem) + flow.recorded_verdicts(stem, PROFILE)
    code = flow.inputs_digest(files, names)  # beside the files' times: as of the beginning, so that an edit while a job runs counts
    after = [done(other) for other in flow.notebooks_before(stem)]
    cells = flow.fingerprint(stem)
    settings = json.dumps(flow.injected_settings(stem, PROFILE, DEVICE), sort_keys=True)
    if workflow.is_main_process:
        if said := flow.forget_incomplete(stem, PLACES[stem]):
            print(said, flush=True)

    if parts:

        rule:
            name:
                f"{stem}_shard"
            input:
                notebook=file,
                files=[here(name) for name in files],
                after=after,
            output:
                done(stem, f".shard{{k}}of{shards}"),
            params:
                stem=stem,
                cells=cells,
                code=code,
                settings=settings,
                shards=shards,
            resources:
                timing=1,
                omp=THREADS,
                attempt=lambda wildcards, attempt: attempt,
            shell:
                JOB + " --shard {wildcards.k}/{params.shards}"

    rule:
        name:
            stem
        input:
            notebook=file,
            files=[here(name) for name in files],
            after=after,
            shards=parts,
        output:
            done(stem),
        params:
            stem=stem,
            cells=cells,
            code=code,
            settings=settings,
        resources:
            timing=CORES if timing else 1,
            omp=1 if timing else THREADS,
            attempt=lambda wildcards, attempt: attempt,  # see ``jobs.execute``
        shell:
            JOB
