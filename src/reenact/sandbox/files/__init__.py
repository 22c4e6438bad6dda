"""Files of a box: in, out, read without harm, removed."""
