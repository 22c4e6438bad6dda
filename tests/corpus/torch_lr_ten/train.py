import torch; torch.manual_seed(0)
N, D_in, H, D_out = 128, 10, 25, 1   # rows, inputs, hidden units, outputs
x = torch.randn(N, D_in); w_true = torch.randn(D_in, D_out)
y = x @ w_true + 0.1 * torch.randn(N, D_out)

model = torch.nn.Sequential(torch.nn.Linear(D_in, H), torch.nn.Sigmoid(), torch.nn.Linear(H, D_out))
loss_fn = torch.nn.MSELoss(reduction='mean')
learning_rate = 10
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
batch_size = 32
num_batches = N // batch_size

for t in range(10):
    perm = torch.randperm(N)
    for b in range(num_batches):
        idx = perm[b * batch_size:(b + 1) * batch_size]
        y_pred = model(x[idx])
        loss = loss_fn(y_pred, y[idx])
        optimizer.zero_grad(); loss.backward(); optimizer.step()
    if t % 2 == 1: print(t, 'mse', loss.item())

r2 = 1 - ((model(x) - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
print('R2: %.4f' % r2.item())
