"""Writing torch encoders as packs: the seam, the graphs, the tokenizer, int8 ranges, and the agreement."""
