package deliver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Headers of Standard Webhooks (standardwebhooks.com).
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

const secretPrefix = "whsec_"

var errSecret = errors.New("a signing secret must be whsec_ followed by base64")

// signatures returns the value of webhook-signature: one signature for each secret, newest first. The signed text is
// "id.timestamp.body", the timestamp in seconds.
func signatures(secrets []string, id string, at time.Time, body []byte) (string, error) {
	if len(secrets) == 0 {
		return "", errSecret
	}
	all := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil || len(key) == 0 {
			return "", errSecret // without the cause, which reveals a part of the secret
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		all[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(all, " "), nil
}
