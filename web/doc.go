// Package web is the HTTP layer: the routes of openapi.yaml bound to the domain, health, metrics and the readable
// documentation; web/ws has the websocket. It translates once, at its edge: JSON to typed requests (web/wire), errors of the
// domain to problem+json (web/problem), stored bytes to answers (batch.go). All handlers may run at the same time.
package web
