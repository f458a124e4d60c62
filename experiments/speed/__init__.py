"""Speed, memory and scaling, measured beside scikit-learn, diffprivlib and a bare joblib loop."""
