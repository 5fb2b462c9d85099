"""Learning-rate searches: what is searched, which rate comes next, when a trial is stopped, what was found."""
