# reenact with its sandbox, for machines that have a container engine.
#
#   docker build -t reenact .
#   docker run --rm -v "$PWD:/project" reenact lint
#   docker run --rm -v "$PWD:/project" reenact diagnose train.py      (with EXTRAS=all,torch or your own packages)
#
# The sandbox needs user namespaces, which engines forbid by default: add
#   --security-opt seccomp=unconfined --security-opt apparmor=unconfined
# for stories that run code of others, and ask `reenact doctor` which tier that leaves.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:${PYTHON}-slim
ARG EXTRAS=all
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home researcher
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(echo /wheels/*.whl)[${EXTRAS}]" && rm -rf /wheels
USER researcher
WORKDIR /project
ENTRYPOINT ["reenact"]
CMD ["doctor"]
