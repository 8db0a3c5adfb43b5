"""The embedded model: as an ONNX pack, and in torch for tuning."""
