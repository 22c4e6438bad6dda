# /// case
# id = "H27"
# title = "secrets in the home folder"
# tries = "reads keys and tokens from the places where programs keep them"
# limits = { wall_s = 15 }
# endings = ["ok"]
# proof = "no planted secret may be in what it prints"
# watches = ["secrets", "home"]
# unconfined = "escapes"
# ///
import os
import re

PLACES = (
    ".ssh/id_ed25519", ".netrc", ".aws/credentials", ".cache/huggingface/token", ".gnupg/secring.gpg",
    ".pypirc", ".git-credentials", ".docker/config.json", ".config/gh/hosts.yml", ".local/share/keyrings/login.keyring",
)
seen = b""
for home in {os.environ["CANARY_HOME"], os.path.expanduser("~")}:
    for place in PLACES:
        try:
            with open(os.path.join(home, place), "rb") as source:
                seen += source.read(1 << 16)
        except OSError:
            continue
for secret in sorted(set(re.findall(rb"CANARYSECRET-[0-9a-f]+", seen))):
    print("found", secret.decode(), flush=True)
