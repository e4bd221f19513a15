# A static binary in an empty image: no shell, no package manager, not root, nothing written outside /data.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# `chatd version` names the commit: the build argument, or what the repository is at. Of .git, .dockerignore lets in just
# enough to tell.
ARG COMMIT
RUN commit=${COMMIT:-$({ mkdir -p .git/objects && git -c safe.directory='*' rev-parse -q --verify HEAD; } 2>/dev/null || true)} \
 && CGO_ENABLED=0 go build -trimpath -buildvcs=false -gcflags=all=-dwarf=false \
    -ldflags="-s -w -X github.com/chatd/chatd/internal/build.commit=$commit" -o /out/chatd ./cmd/chatd \
 && mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/chatd /chatd
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV CHATD_ADDR=0.0.0.0:8080 CHATD_DATA=/data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s CMD ["/chatd", "healthcheck"]
ENTRYPOINT ["/chatd"]
