"""Programs written for Keras 1, Keras 2 or tf.keras run on Keras 3 with torch."""
