"""All settings of the experiment."""

SEED = 3

# data
NUM_CLASSES = 5
TRAIN_SIZE = 500
TEST_SIZE = 100

# training
BATCH_SIZE = 25
EPOCHS = 4
LR = 0.05
MOMENTUM = 0.9
STEP_SIZE = 2
GAMMA = 0.5

# model
CHANNELS = (8, 16)
KERNEL = 3
DROPOUT = 0.1
