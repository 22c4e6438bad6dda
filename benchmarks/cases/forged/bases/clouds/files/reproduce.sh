python train.py --seed 0
