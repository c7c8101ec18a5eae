"""The classifier as a scikit-learn estimator, the main interface of nlptx for Python programs."""
