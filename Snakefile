# One rule per notebook. It runs again if its code cells, its section of profiles.toml, the modules
# that it uses, its data, or a notebook that it comes after have changed. A notebook whose
# experiments are split into shards has one more rule. The shards run first, for the same reasons.
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
if workflow.resource_settings.cores:  # on a cluster there is no number, because a job has a node or a part of one
    workflow.register_resource("timing", CORES)  # a notebook that measures run times requests all cores
shell.executable("/bin/sh")
JOB = "OMP_NUM_THREADS={resources.omp} {sys.executable:q} -m companion.workflow.jobs {params.stem:q} {PROFILE} --device {DEVICE} --attempt {resources.attempt}"


# Custom runs have a separate folder, and note_custom lists them for run.py.
PLACES = {stem: declared.output_place(stem, PROFILE) for stem in flow.notebook_stems()}
if workflow.is_main_process:
    for said in flow.note_custom(PROFILE):
        print(said, flush=True)


def here(name):  # relative to the working folder, which is not the project's folder if that is read-only
    return name if os.path.isabs(name) else os.path.relpath(flow.project_dir() / name)


def done(stem, part=""):
    # A relative path, because Snakemake remembers by it what a job has read; a folder may be moved or copied.
    return os.path.relpath(flow.profile_results(PLACES[stem]) / f"{stem}{part}.done")


rule all:
    input:
        [done(stem) for stem in flow.notebook_stems()],


for stem in flow.notebook_stems():
    timing = flow.read_section(stem).get("timing", False)
    shards = flow.shard_count(stem, PROFILE)
    parts = [done(stem, f".shard{k}of{shards}") for k in range(1, shards + 1)] if shards > 1 else []
    # ancient, because only the fingerprint of the notebook's code cells counts, not its file time
    file = ancient(str(declared.notebook_path(stem)))
    files = flow.input_files(stem)
    names = flow.cell_imports(stem) + flow.recorded_verdicts(stem, PROFILE)
    code = flow.inputs_digest(files, names)  # In addition to the files' times: computed at the start, so that an edit during a job counts.
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
            attempt=lambda wildcards, attempt: attempt,  # see ``jobs.run_job``
        shell:
            JOB
