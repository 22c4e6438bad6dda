import reenact_reach as reach

seen = reach.at("_conv_forward")
# What the convolution is given: its second channel over time, against that of the recording.
observed = seen.arguments[1][0, 1]
reference = seen.x[0, :, 1]
