"""What is measured and how; run a module from the checkout as `python -m benchmarks.views`."""
