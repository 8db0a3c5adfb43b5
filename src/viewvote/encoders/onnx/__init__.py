"""What an ONNX pack is made of: its configuration, files, tokenizer, and the runtimes that run its towers."""
