"""The server: tools and resources over the runs folder of the settings, on stdin and stdout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer

from reenact.mcp.following import add_answering, add_following
from reenact.mcp.jobs import Jobs
from reenact.mcp.permits import Permits
from reenact.mcp.reading import add_reading
from reenact.mcp.resources import add_resources
from reenact.mcp.run_service import RunService
from reenact.mcp.starting import Starter, add_starting
from reenact.version import __version__

INSTRUCTIONS = """\
reenact says what is wrong with a deep-learning training, repairs it, shows reported bugs by scripts and
reproduces papers. Verdicts come from executions and statistics; do not overrule them by opinion.
Start with `diagnose` (reads only, fast). What must run is started by start_* and answers with ids: then
`poll` until the status is finished, then `result`. Runs are recorded: the same start continues them.
Paths count from the folder that the server was started in.
"""


def make_server(runs_dir: Path, permits: Permits) -> MCPServer[Any]:
    """The server with all its tools; nothing is started yet."""
    server: MCPServer[Any] = MCPServer(
        "reenact", title="reenact", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    service = RunService(runs_dir, Jobs(runs_dir / "mcp"))
    add_reading(server, service)
    starter = Starter(service, permits)
    add_starting(server, starter)
    add_following(server, starter)
    add_answering(server, service)
    add_resources(server, service)
    return server


def serve(runs_dir: Path, permits: Permits) -> None:
    """Serve one client until it goes away."""
    make_server(runs_dir, permits).run("stdio")
