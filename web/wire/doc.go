// Package wire reads JSON that clients send and writes JSON that they get, for HTTP and the websocket alike: strict in what
// it takes, and joining stored bytes without decoding them.
package wire
