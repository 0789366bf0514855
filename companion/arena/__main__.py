"""``python -m companion.arena``: run the arena's notebooks, with learners and problems of your own if you name some."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from ..output import figures_dir, profile_dir
from ..workflow.declared import convert_all
from ..workflow.jobs import failure_reason, output_to, run_notebook
from ..workflow.plan import TIMEOUT, notebook_stems, profile_results
from .entries import FIELDS, load, pick

# Parameters of the notebooks that are options.
SIZES = ("horizon", "trials", "tuning_trials", "peer_trials", "seed")


def parameters(options: argparse.Namespace) -> dict:
    """Return the parameters of a notebook that the options set."""
    found = {name: getattr(options, name) for name in SIZES if getattr(options, name) is not None}
    places = [*options.learner, *options.problem]
    for place in places:
        load(place)  # a wrong name is reported before the notebook starts
    found |= {name: names for name in ("problems", "learners") if (names := getattr(options, name))}
    absolute = [
        ":".join([str(Path(p.rpartition(":")[0]).resolve()), p.rpartition(":")[2]]) for p in places
    ]
    return found | ({"extra": absolute} if absolute else {})


def chosen_notebooks(field: str | None, named: bool) -> list[str]:
    """Return the notebooks to run: the notebook of a field, or all. Without a field, named learners and problems are those of finite arms."""
    found = {stem.split("_", 2)[2]: stem for stem in notebook_stems("arena")}
    field = field or ("arms" if named else None)
    return [found[field]] if field else [*found.values()]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the arena's notebooks, with learners and problems of your own if you name some."""
    parser = argparse.ArgumentParser(prog="run.py arena", description=main.__doc__)
    words = "finite arms, or convex sets and boxes; default: both, or finite arms if you name learners or problems"
    parser.add_argument("--field", choices=[*FIELDS], help=words)
    place = "your own, file.py:Name; may be repeated"
    parser.add_argument("--learner", metavar="FILE:NAME", action="append", default=[], help=place)
    parser.add_argument("--problem", metavar="FILE:NAME", action="append", default=[], help=place)
    for flag, name in (("--on", "problems"), ("--against", "learners")):
        words = f"one of the arena's {name}, instead of those of the notebook; may be repeated"
        parser.add_argument(flag, metavar="NAME", action="append", dest=name, help=words)
    for name in SIZES:
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, type=int, metavar="N", help=f"the notebooks' parameter {name}")
    options = parser.parse_args(argv)
    try:
        values = parameters(options)
        named = not values.keys().isdisjoint(("extra", "problems", "learners"))
        stems = chosen_notebooks(options.field, named)
        for stem in stems:
            field = FIELDS[stem.split("_", 2)[2]]
            peers = field.peers if options.peer_trials else {}
            pick(options.problems or (), field.problems, "--on")
            pick(options.learners or (), field.learners | peers, "--against")
    except ValueError as error:
        parser.error(str(error))
    profile = "custom" if values else "quick"
    folder = profile_results(profile).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for stem in stems:
        log = folder / f"{stem}.log"
        print(f"  {stem} runs, with its messages in {log}", flush=True)
        with output_to(log):
            try:
                run_notebook(stem, convert_all(stem, values), folder, TIMEOUT["paper"])
                failed = ""
            except Exception as error:
                failed = failure_reason(error, profile, figures_dir())
        if failed:
            sys.exit(f"{stem} failed, {failed}. {folder / stem}.ipynb shows the run until then.")
        print(f"  {stem} is done, see {folder / stem}.ipynb", flush=True)
    print(f"Figures: {profile_dir(profile) / 'arena'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
