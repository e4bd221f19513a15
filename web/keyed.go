package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"

	"github.com/chatd/chatd/chat"
)

// keyed answers a creation that may carry an Idempotency-Key: the same key with the same request gets the first answer
// again. create gets the key, or "" if there is none, and may run twice without harm.
func keyed(ctx context.Context, core *chat.Service, operation string, key *string, request any, status int,
	create func(key string) (any, error),
) (rawAnswer, error) {
	do := func() (chat.Answer, error) {
		made, err := create(deref(key))
		if err != nil {
			return chat.Answer{}, err
		}
		body, err := json.Marshal(made)
		return chat.Answer{Status: status, Body: body}, err
	}
	if key == nil {
		answer, err := do()
		return rawAnswer{Answer: answer}, err
	}
	if !chat.ValidKey(*key) {
		return rawAnswer{}, chat.Errorf(chat.CodeInvalid, "Idempotency-Key: want 1 to 64 printable ASCII characters")
	}
	content, err := contentHash(operation, request)
	if err != nil {
		return rawAnswer{}, err
	}
	answer, replayed, err := core.Once(ctx, callerOf(ctx), *key, content, do)
	return rawAnswer{Answer: answer, replayed: replayed}, err
}

// keyedSecret is keyed for what has a secret. create returns it apart, as an object with those fields of the first answer that are not
// kept for a repeated one.
func keyedSecret(ctx context.Context, core *chat.Service, operation string, key *string, request any, status int,
	create func(key string) (made, secret any, err error),
) (rawAnswer, error) {
	var secret any
	answer, err := keyed(ctx, core, operation, key, request, status, func(key string) (made any, err error) {
		made, secret, err = create(key)
		return made, err
	})
	if err != nil || answer.replayed {
		return answer, err
	}
	fields, err := json.Marshal(secret)
	if err == nil && len(fields) > len("{}") {
		answer.Body = append(append(bytes.TrimSuffix(answer.Body, []byte{'}'}), ','), fields[1:]...)
	}
	return answer, err
}

// rawAnswer is the finished answer to a creation, the first or a repeated one.
type rawAnswer struct {
	chat.Answer
	replayed bool
}

func (a rawAnswer) write(w http.ResponseWriter) error {
	if a.replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	return writeBuffered(w, a.Status, len(a.Body), func(buf *bytes.Buffer) { buf.Write(a.Body) })
}

func (a rawAnswer) VisitCreateGroupResponse(w http.ResponseWriter) error   { return a.write(w) }
func (a rawAnswer) VisitCreateHookResponse(w http.ResponseWriter) error    { return a.write(w) }
func (a rawAnswer) VisitCreateInviteResponse(w http.ResponseWriter) error  { return a.write(w) }
func (a rawAnswer) VisitCreateKeyResponse(w http.ResponseWriter) error     { return a.write(w) }
func (a rawAnswer) VisitCreateWebhookResponse(w http.ResponseWriter) error { return a.write(w) }
func (a rawAnswer) VisitRotateKeyResponse(w http.ResponseWriter) error     { return a.write(w) }
func (a rawAnswer) VisitRotateWebhookResponse(w http.ResponseWriter) error { return a.write(w) }

// contentHash tells requests with the same retry key apart by what they ask for, no matter how they are written.
func contentHash(operation string, body any) (string, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(append([]byte(operation+"\n"), b...))
	return hex.EncodeToString(sum[:16]), nil
}
