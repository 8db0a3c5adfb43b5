"""One module per kind of input; see `fuzz.target.Target` for what each has to have."""
