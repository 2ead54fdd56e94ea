package serverless

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openjobspec/ojs-go"
)

// maxSignatures is how many signatures of a header are compared: a longer header costs no more.
const maxSignatures = 16

// Verify checks that one of the secrets signed a push request within the tolerance; nil when it did. The body is the
// one that arrived, byte for byte. Both forms of headers are known: X-OJS-Signature with X-OJS-Timestamp, and
// webhook-signature (Standard Webhooks). Every secret is compared with every signature, each in constant time.
//
// The error is of the class [ojs.ErrUntrustedWebhook]; the reason is in its details.
func Verify(body []byte, headers http.Header, secrets []string, tolerance time.Duration, now time.Time) error {
	var known []string
	for _, secret := range secrets {
		if secret != "" {
			known = append(known, secret)
		}
	}
	if len(known) == 0 {
		return untrusted("no_secret", "no secret was given: set WithSigningSecrets or $OJS_SIGNING_SECRET")
	}
	if value, there := header(headers, "X-OJS-Signature"); there {
		stamp, err := timestamp(headers, "X-OJS-Timestamp", tolerance, now)
		if err != nil {
			return err
		}
		given := signatures(strings.Split(value, ","), "sha256=", hex.DecodeString)
		return fits(known, given, func(secret string) []byte { return sign([]byte(secret), stamp+".", body) })
	}
	value, there := header(headers, "webhook-signature")
	if !there {
		return untrusted("missing_header", "the header X-OJS-Signature is missing")
	}
	id, there := header(headers, "webhook-id")
	if !there {
		return untrusted("missing_header", "the header webhook-id is missing")
	}
	stamp, err := timestamp(headers, "webhook-timestamp", tolerance, now)
	if err != nil {
		return err
	}
	given := signatures(strings.Fields(value), "v1,", base64.StdEncoding.DecodeString)
	return fits(known, given, func(secret string) []byte { return sign(standardKey(secret), id+"."+stamp+".", body) })
}

// signatures decodes those signatures of a header that have the prefix of a known kind.
func signatures(values []string, prefix string, decode func(string) ([]byte, error)) (given [][]byte) {
	for _, value := range values {
		text, found := strings.CutPrefix(strings.TrimSpace(value), prefix)
		if code, err := decode(text); found && err == nil && len(given) < maxSignatures {
			given = append(given, code)
		}
	}
	return given
}

func sign(key []byte, before string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(before))
	mac.Write(body)
	return mac.Sum(nil)
}

// standardKey is what stands behind whsec_, decoded from base64; where that is no base64, its bytes as they are.
func standardKey(secret string) []byte {
	text := strings.TrimPrefix(secret, "whsec_")
	if key, err := base64.StdEncoding.DecodeString(text); err == nil {
		return key
	}
	return []byte(text)
}

// fits compares all pairs, also after a match, so that the time does not reveal which pair matched.
func fits(secrets []string, given [][]byte, code func(secret string) []byte) error {
	found := false
	for _, secret := range secrets {
		expected := code(secret)
		for _, one := range given {
			found = hmac.Equal(expected, one) || found
		}
	}
	if !found {
		return untrusted("signature_mismatch",
			"no signature fits: another secret, or the body was changed on its way (use the bytes as they arrived)")
	}
	return nil
}

func header(headers http.Header, name string) (string, bool) {
	for known, values := range headers {
		if strings.EqualFold(known, name) && len(values) > 0 {
			return strings.TrimSpace(values[0]), true
		}
	}
	return "", false
}

func timestamp(headers http.Header, name string, tolerance time.Duration, now time.Time) (string, error) {
	text, there := header(headers, name)
	if !there {
		return "", untrusted("missing_header", fmt.Sprintf("the header %s is missing", name))
	}
	signed, err := strconv.ParseInt(text, 10, 64)
	if err != nil || strings.Trim(text, "0123456789") != "" {
		return "", untrusted("invalid_header", fmt.Sprintf("the header %s cannot be read", name))
	}
	age, most := now.Unix()-signed, int64(tolerance/time.Second)
	if age > most || age < -most {
		return "", untrusted("stale_timestamp",
			fmt.Sprintf("the request was signed %d seconds ago; at most %d are allowed", age, most))
	}
	return text, nil
}

func untrusted(reason, message string) error {
	details, _ := json.Marshal(map[string]string{"reason": reason})
	return &ojs.Error{Class: ojs.ErrUntrustedWebhook, Code: "untrusted_webhook", Status: http.StatusUnauthorized,
		Message: "the request is not to be trusted: " + message, Details: details}
}
