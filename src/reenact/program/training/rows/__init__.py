"""What becomes of the rows of a training on their way to the model, by flow alone.

origins       from the call that takes inputs or labels back to the line that makes them
orders        which variables follow which order of rows
moved_alone   where inputs and labels meet that do not follow the same order
drawn_apart   where they are drawn, turned or repeated apart from each other
together      which variables belong together row by row
splits        which rows were held out of which; own_figures: held-out rows scaled by figures of their own
scaled        where rows are scaled, and what scalers are fitted to
augmented     data sets that change their rows at random
unsplit       losses over all rows in a program that splits them
drawn         rows that are drawn, repeated or cut into windows, and where they are split afterwards
windows       windows of a series, and targets that lie in their own
look_ahead    features that are made of later values of the series
padding       rows that are filled up to one length, and the masks that say so
"""
