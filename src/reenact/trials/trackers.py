"""Experiment trackers stay silent during trials: a hundred short trainings belong on nobody's dashboard.

What a user set otherwise is overruled: the trials are ours. A program that names its server in its own code
(`mlflow.set_tracking_uri`, `wandb.init(mode="online")`) still has its will.
"""

from __future__ import annotations

from pathlib import Path

OFF = {
    # Weights & Biases: every call does nothing (docs.wandb.ai, "turn off wandb when testing").
    "WANDB_MODE": "disabled",
    "WANDB_SILENT": "true",
    # Comet: experiments are made disabled (setting comet.auto_log.disable of its reference).
    "COMET_AUTO_LOG_DISABLE": "1",
    # Comet and MLflow as the Trainer of transformers calls them (its integrations have their own switches).
    "COMET_MODE": "DISABLED",
    "DISABLE_MLFLOW_INTEGRATION": "TRUE",
    # Neptune: its documented way "to switch off Neptune without modifying your code".
    "NEPTUNE_MODE": "debug",
    # ClearML: kept in a local folder, never sent (docs, offline mode).
    "CLEARML_OFFLINE_MODE": "1",
    # SwanLab and Polyaxon: calls do nothing (their docs, environment variables).
    "SWANLAB_MODE": "disabled",
    "POLYAXON_NO_OP": "true",
    # Usage reports of Hugging Face, DVC and Aim, and the wish that several honour.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DVC_NO_ANALYTICS": "1",
    "AIM_UI_TELEMETRY_ENABLED": "0",
    "DO_NOT_TRACK": "1",
}


def silent(folder: Path) -> dict[str, str]:
    """Variables that turn trackers off; those that insist on writing write below `folder`."""
    return OFF | {
        # MLflow has no switch of its own: a file store that goes away with the trial (docs, tracking URI).
        "MLFLOW_TRACKING_URI": (folder / "mlruns").absolute().as_uri(),
        "WANDB_DIR": str(folder),
        "CLEARML_CACHE_DIR": str(folder / "clearml"),
        "TRACKIO_DIR": str(folder / "trackio"),
    }
