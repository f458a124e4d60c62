"""Diabetes prediction (Kaggle iammustafatz/diabetes-prediction-dataset): 8 features of 100,000 patients."""

from datasets import table


def read(file):
    """Read ``diabetes_prediction_dataset.csv``."""
    return table.read_text(file)
