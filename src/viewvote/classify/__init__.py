"""From photographs to predictions: the classifier, its options, and how views of many images share batches."""
