// Package wire parses the JSON that clients send and writes the JSON that they get, for HTTP and the websocket alike.
// It is strict about its input, and joins stored bytes without decoding them.
package wire
