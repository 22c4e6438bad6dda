"""UMLAUT (Schoop et al., CHI 2021): what a tutor would remark on data, architecture and curves.

Schoop, Huang and Hartmann, "UMLAUT: Debugging Deep Learning Programs using Program Structure and Model
Behavior", CHI 2021"""
