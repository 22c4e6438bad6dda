"""UMLAUT (Schoop et al., CHI 2021): what a tutor would remark on data, architecture and curves."""
