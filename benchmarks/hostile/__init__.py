"""The hostile suite and the benign twins: cases, the judge, the measure."""
