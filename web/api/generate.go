// Package api is what oapi-codegen makes of openapi.yaml: the types of requests and answers, and the strict server that
// binds routes to typed methods. Package web implements it. Never edit api.gen.go: change openapi.yaml and run
// `go generate ./web/...`.
package api

//go:generate go tool -modfile=../../tools.mod oapi-codegen -config config.yaml ../openapi.yaml
