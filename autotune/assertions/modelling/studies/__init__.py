"""Questions that a model answers: scaling, sensitivity, message sizes, time, residuals."""
