"""DeepDiagnosis (Wardat et al., ICSE 2022): symptoms at the end of epochs, and a decision tree to advice."""
