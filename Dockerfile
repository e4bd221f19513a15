# A static binary in an empty image: no shell, no package manager, not root, nothing written outside /data.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -gcflags=all=-dwarf=false -ldflags="-s -w" -o /out/chatd ./cmd/chatd \
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
