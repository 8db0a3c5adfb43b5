"""What records say, in numbers: pure numpy over columns, no model, no torch."""
