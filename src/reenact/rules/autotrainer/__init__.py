"""AutoTrainer (Zhang et al., ICSE 2021): training problems in curves and gradients.

Zhang, Zhai, Ma and Shen, "AutoTrainer: An Automatic DNN Training Problem Detection and Repair System",
ICSE 2021"""
