"""PROGRAM METHOD: runs MinerU's command on paper.pdf -> content.json, picture0, ..., and gathered.json.

MinerU names its folders by its version and method, and its pictures by their content: what it left is looked
for here, and handed on under names that are known outside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

MOST_PICTURES = 40
LARGEST_PICTURE = 8 << 20
KEPT = 2000
"""Letters of what MinerU printed last."""


def main() -> None:
    program, method = sys.argv[1:]
    # A relative name is looked for in the home, and that is not where it lies.
    os.environ["MINERU_TOOLS_CONFIG_JSON"] = str(Path("mineru.json").resolve())
    words = [program, "-p", "paper.pdf", "-o", "out", "-b", "pipeline", "-m", method]
    # Its tables and formulas come from networks that it loads: all of it is as untrusted as the PDF.
    done = subprocess.run(  # noqa: S603
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    found: dict[str, object] = {
        "code": done.returncode,
        "output": done.stdout.decode("utf-8", "replace")[-KEPT:],
    }
    lists = sorted(path for path in Path("out").rglob("*_content_list.json") if path.is_file())
    if lists:
        content = lists[0].read_bytes()
        Path("content.json").write_bytes(content)
        found["pictures"] = gathered(lists[0].parent, json.loads(content))
    Path("gathered.json").write_text(json.dumps(found), encoding="utf-8")


def gathered(folder: Path, content: object) -> dict[str, str]:
    """Pictures of figures, by the name that the list has for them, with the name of their copy."""
    found: dict[str, str] = {}
    for block in content if isinstance(content, list) else []:
        name = block.get("img_path") if isinstance(block, dict) else None
        if not isinstance(name, str) or not name or block.get("type") not in ("image", "chart"):
            continue
        path = folder / name
        inside = os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep)
        if (
            inside
            and path.is_file()
            and path.stat().st_size <= LARGEST_PICTURE
            and len(found) < MOST_PICTURES
        ):
            copy = f"picture{len(found)}"
            Path(copy).write_bytes(path.read_bytes())
            found[name] = copy
    return found


main()
