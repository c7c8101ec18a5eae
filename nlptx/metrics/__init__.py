"""Quality of predictions: accuracy, F1, ROC-AUC, log-loss, calibration."""

from nlptx.metrics.ece import (
    BINS,
    NoiseFloor,
    calibration,
    calibration_error,
    calibration_noise_floor,
    confidence_bins,
)
from nlptx.metrics.report import (
    ClassReport,
    Report,
    compute_report,
    confusion_matrix,
    log_loss,
    log_losses,
    precision_recall_f1,
    roc_auc,
    wilson_interval,
)

__all__ = [
    "BINS",
    "ClassReport",
    "NoiseFloor",
    "Report",
    "calibration",
    "calibration_error",
    "calibration_noise_floor",
    "compute_report",
    "confidence_bins",
    "confusion_matrix",
    "log_loss",
    "log_losses",
    "precision_recall_f1",
    "roc_auc",
    "wilson_interval",
]
