"""Private naive Bayes: noisy counts of each feature by class, and what they make of the class sizes."""
