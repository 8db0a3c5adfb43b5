"""The runs and commands whose answers are frozen."""

COLOURS = ("blue", "green", "red", "yellow")

TOY: dict[str, list[str]] = {
    "zero": ["--views", "64"],
    "zero-seed1": ["--views", "16", "--seeds", "1"],
    "zero-keep": ["--views", "16", "--keep", "0.5"],
    "zero-tie-random": ["--views", "16", "--set", "tie=random"],
    "zero-tie-group": ["--views", "16", "--set", "tie=group-marginal"],
    "zero-soft": ["--views", "16", "--set", "zero_temperature=eps-fp16"],
    "zero-paper": ["--views", "16", "--set", "compat=paper"],
    "zero-16": ["--views", "16"],
    "zero-limit": ["--views", "8", "--limit", "5", "--order", "shuffled"],
    "zero-augmix": ["--views", "8", "--augment", "augmix"],
    "zero-templates": ["--views", "8", "--templates", "a red and {} thing"],
    "adaptive": ["--views", "adaptive"],
    "adaptive-rate": ["--views", "adaptive", "--disagreement", "0.05"],
    "exact": ["--stop", "exact"],
    "exact-16": ["--stop", "exact", "--views", "16"],
    "cascade": ["--views", "16", "--teacher", "toy"],
    "cascade-adaptive": ["--views", "adaptive", "--teacher", "toy"],
    "zero-shot": ["--method", "zero-shot"],
    "ensemble": ["--method", "ensemble"],
    "marginal": ["--method", "marginal", "--views", "16"],
    "mean-logits": ["--method", "mean-logits", "--views", "16"],
    "mta": ["--method", "mta", "--views", "16"],
    "tda": ["--method", "tda", "--views", "16"],
    **{f"zero-64-seed{seed}": ["--seeds", str(seed)] for seed in (2, 3, 4, 5)},
    "dota": ["--method", "dota", "--views", "16"],
}
"""On twelve drawn pictures."""

POCKET: dict[str, list[str]] = {
    "zero": ["--views", "16"],
    "zero-seed1": ["--views", "16", "--seeds", "1"],
    "zero-fp32": ["--views", "8", "--precision", "fp32"],
    "adaptive": ["--views", "adaptive"],
    "exact": ["--stop", "exact"],
    "zero-shot": ["--method", "zero-shot"],
    "mta": ["--method", "mta", "--views", "16"],
    "tda": ["--method", "tda", "--views", "16"],
    "cascade": ["--views", "16", "--teacher", "pocket", "--templates", "ensemble"],
    "cascade-toy": ["--views", "8", "--teacher", "toy"],
}
"""On the shipped photographs."""

CLASSIFY: dict[str, list[str]] = {
    "zero": ["--views", "16"],
    "adaptive": ["--views", "adaptive"],
    "exact": ["--stop", "exact"],
    "mta": ["--method", "mta", "--views", "16"],
}
"""On the shipped photographs, with their labels."""

TEXTS: dict[str, str | list[str] | None] = {
    "default": None,
    "ensemble": "ensemble",
    "coop-food101": "coop-food101",
    "imagenet80": "imagenet80",
    "own": ["{}", "a drawing of the {}, in colour"],
}
"""Template sets whose text features are frozen, of these labels:"""
LABELS = ["cat", "coffee cup", "São Paulo", "a very long label, of many words: " + "rocket " * 12]

REPORTED = ("zero", "zero-16", "zero-seed1", "zero-soft", "adaptive", "exact", "zero-shot", "marginal", "mta", "tda")
"""The toy runs that reports are made of."""

REPORTS: dict[str, list[str]] = {
    **{f"report-{form}": ["report", "runs", "--format", form] for form in ("markdown", "latex", "csv", "json", "html")},
    "report-nds": ["report", "shifted", "--layout", "nds"],
    "report-compare": ["report", "--compare", "runs/zero", "runs/zero-shot"],
    "rescore": ["rescore", "runs/zero", "--keep", "0.1,0.3,1", "--views", "8,64", "--tie", "greedy,max-logit,random"],
    "rescore-ties": ["rescore", "runs/zero-16", "--tie", "all"],
    "rescore-json": ["rescore", "runs/zero", "--format", "json"],
    "rescore-csv": ["rescore", "runs/zero-16", "--keep", "0.3,0.5", "--format", "csv"],
    "metrics": ["metrics", "runs/zero"],
    "metrics-json": ["metrics", "runs/zero", "--json"],
    "metrics-adaptive": ["metrics", "runs/adaptive"],
    "metrics-tda-json": ["metrics", "runs/tda", "--json", "--bins", "5"],
    "calibrate-stop": [
        *("calibrate-stop", "runs/zero", *(f"more/zero-64-seed{seed}" for seed in (2, 3, 4, 5))),
        *("--disagreement", "0.2", "--disagreement", "0.3", "--output", "stop.json"),
    ],
}
"""Made of those runs, with their timings, versions and places replaced by fixed ones."""
