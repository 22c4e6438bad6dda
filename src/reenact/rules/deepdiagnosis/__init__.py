"""DeepDiagnosis (Wardat et al., ICSE 2022): symptoms at the end of epochs, and a decision tree to advice.

Wardat, Cruz, Le and Rajan, "DeepDiagnosis: Automatically Diagnosing Faults and Recommending Actionable
Fixes in Deep Learning Programs", ICSE 2022"""
