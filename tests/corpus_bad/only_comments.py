# lr = 0.1
# model = nn.Sequential(nn.Linear(4, 2))
"""Nothing but words: batch_size = 32."""
