import reenact_reach as reach
import torch

torch.manual_seed(SEED)
train = reach.module()
graph, model = train.citations(), train.Convolutions().eval()
observed = train.training_loss(model, graph)
# The same with other papers in the place of those that are judged.
graph.features[graph.test] = torch.randn(int(graph.test.sum()), train.WORDS)
reference = train.training_loss(model, graph)
