"""Repair: the smallest change that makes a training significantly better, verified on fresh seeds.

wishes     what the user may ask for            judging    which number, on which half of the data
workbench  trainings for a strategy, accounts   space      every knob with the values it may take
strategies one file each                        study      the search as an Optuna study on disk
minimise   leave out what the gain does not need   verify  before and after over fresh seeds
verdict    what came of it                      apply      the change in the user's own files
story      all of it, on one page               neutral    alternative repairs, as a graph
"""
