"""Arena: the learners of all papers on the same problems."""
