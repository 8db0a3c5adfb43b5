"""How the pocket model is made; run a step from the checkout as `python -m training.fit_joint` (see README.md)."""

from viewvote import telemetry

telemetry.switch_off()  # its steps import ONNX Runtime before anything of viewvote
