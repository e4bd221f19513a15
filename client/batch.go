package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
)

// Op is one write of a batch: `op` and the fields of the call that it stands for, with `group`, `user`, and `as` for a key. The API
// description has the ops.
type Op map[string]any

// OpResult is what became of an op.
type OpResult struct {
	Status       int    // of the single call
	Code, Detail string // of a refusal
	RetryAfterMs int64
	Raw          json.RawMessage // the whole result: the status with the answer of the single call, or with the problem
}

// UnmarshalJSON keeps the whole result.
func (r *OpResult) UnmarshalJSON(b []byte) error {
	var head struct {
		Status       int    `json:"status"`
		Code         string `json:"code"`
		Detail       string `json:"detail"`
		RetryAfterMs int64  `json:"retry_after_ms"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return err
	}
	*r = OpResult{head.Status, head.Code, head.Detail, head.RetryAfterMs, append(json.RawMessage(nil), b...)}
	return nil
}

// Batch makes up to 1,000 writes. The results come in the order of ops; an error is about the batch as a whole. A batch that was cut off
// is repeated with the same key: what was done is not done again. It is generated if empty.
func (c *Client) Batch(ctx context.Context, key string, ops []Op) ([]OpResult, error) {
	body := struct {
		Ops []Op `json:"ops"`
	}{ops}
	answer, err := answerTo[struct {
		Results []OpResult `json:"results"`
	}](ctx, c, call{method: http.MethodPost, path: []string{"batch"}, body: body, key: cmp.Or(key, NewKey()), again: true})
	return answer.Results, err
}
