"""DeepLocalize (Wardat et al., ICSE 2021): numerical symptoms, batch by batch, at the first layer hit.

Wardat, Le and Rajan, "DeepLocalize: Fault Localization for Deep Neural Networks", ICSE 2021"""
