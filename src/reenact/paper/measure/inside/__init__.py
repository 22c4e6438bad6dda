"""What goes into the box with a project whose training is controlled.

observe      runs train.py as it is, without updates or with labels permuted, and writes down what
             it saw
observer     what is seen of a run, and what is changed in it
frameworks   hooks on torch and Keras
predictions  predictions of a model and the labels they are compared with, caught while the program
             runs
quantities   accuracy, errors and losses of such predictions, each with that of a constant answer

They need Python alone, and torch or Keras where the project has them.
"""
