"""One file per table or figure of the paper that explains ZERO: pure maths over records, then what to print."""
