"""DeepLocalize (Wardat et al., ICSE 2021): numerical symptoms, batch by batch, at the first layer hit."""
