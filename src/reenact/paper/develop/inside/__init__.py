"""What goes into the box: a driver that samples, trains on one batch, and writes down what it saw.

driver  reads the task, writes the result      batch   one mini-batch, described
method  the model and its loss on one batch    report  problems and facts

They import nothing of reenact and nothing but Python itself, and torch where the project has it. In the box
this folder is called reenact_inside.
"""
