from .loop import fit
from .settings import Settings

if __name__ == "__main__":
    print(f"mae {fit(Settings()):.5f}")
