package serverless

import (
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/openjobspec/ojs-go"
)

// The forms of encrypted jobs are those that the specification and the published SDKs write.
const (
	encodingsKey = "ojs.codec.encodings"
	blobVersion  = 1
	nonceBytes   = 12
	// maxPlain is the most that compressed arguments may grow to.
	maxPlain = 64 << 20
)

var (
	ciphers   = []string{"binary/encrypted", "aes-256-gcm"}
	markers   = []string{"ojs_encoded", "_encrypted", "ojs.encryption.encrypted"}
	keyIDs    = []string{"ojs.codec.key_id", "_encryption_key_id", "ojs_key_id", "ojs.encryption.key_id"}
	nonceKeys = []string{"ojs.codec.nonce", "ojs_nonce", "ojs.encryption.nonce"}
)

// keys are keys of AES-256-GCM by their names.
type keys map[string][]byte

// readKeys reads "name:key,name:key".
func readKeys(text string) (keys, error) {
	found := keys{}
	for _, entry := range strings.Split(text, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		name, digits, _ := strings.Cut(entry, ":")
		key, err := hex.DecodeString(digits)
		if err != nil {
			key, err = base64.StdEncoding.DecodeString(digits)
		}
		if name == "" || err != nil || len(key) != 32 {
			return nil, invalid("WithEncryptionKeys: the key '%s' must be name:key, where the key is 64 hexadecimal characters "+
				"or base64 of 32 bytes", name)
		}
		found[name] = key
	}
	return found, nil
}

// encoded is what is said about encrypted arguments.
type encoded struct {
	encodings []string
	keyID     string
	nonce     string
	data      string
}

// decrypted is the job with its arguments in the clear, and without the metadata of the encryption. A job that is not
// encrypted comes back as it is.
func (k keys) decrypted(envelope json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(envelope, []byte("encrypted")) && !bytes.Contains(envelope, []byte("ojs")) {
		return envelope, nil
	}
	var job map[string]json.RawMessage
	var meta map[string]json.RawMessage
	if json.Unmarshal(envelope, &job) != nil {
		return envelope, nil
	}
	_ = json.Unmarshal(job["meta"], &meta)
	found, is := findEncoded(job["args"], meta)
	if !is {
		return envelope, nil
	}
	args, err := k.open(found)
	if err != nil {
		return nil, err
	}
	job["args"] = args
	for _, names := range [][]string{{encodingsKey}, markers, keyIDs, nonceKeys} {
		for _, name := range names {
			delete(meta, name)
		}
	}
	if job["meta"], err = json.Marshal(meta); err != nil {
		return nil, err
	}
	return json.Marshal(job)
}

func findEncoded(args json.RawMessage, meta map[string]json.RawMessage) (found encoded, is bool) {
	marked := slices.ContainsFunc(markers, func(name string) bool {
		value := strings.Trim(string(meta[name]), `"`)
		return value == "true"
	})
	var list []json.RawMessage
	var element struct {
		Encoded  bool `json:"ojs_encoded"`
		Encoding string
		Data     string
		Metadata struct {
			KeyID string `json:"encryption_key_id"`
		}
	}
	if json.Unmarshal(args, &list) == nil && len(list) == 1 {
		if json.Unmarshal(list[0], &found.data) != nil && json.Unmarshal(list[0], &element) == nil {
			found.data = element.Data
		}
	}
	if json.Unmarshal(meta[encodingsKey], &found.encodings) != nil && element.Encoding != "" {
		// In the element the outermost comes first.
		found.encodings = strings.Split(element.Encoding, "+")
		slices.Reverse(found.encodings)
	}
	if !slices.Contains(found.encodings, ciphers[0]) && !element.Encoded && !marked {
		return found, false
	}
	if len(found.encodings) == 0 {
		found.encodings = ciphers[:1]
	}
	if found.keyID = textOf(meta, keyIDs); found.keyID == "" {
		found.keyID = element.Metadata.KeyID
	}
	found.nonce = textOf(meta, nonceKeys)
	return found, true
}

// textOf is the first of several members that is a text.
func textOf(meta map[string]json.RawMessage, names []string) (text string) {
	for _, name := range names {
		if json.Unmarshal(meta[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

func (k keys) open(found encoded) (json.RawMessage, error) {
	data, err := base64.StdEncoding.DecodeString(found.data)
	if err != nil || len(data) == 0 {
		return nil, malformed("their data is no base64")
	}
	for _, name := range slices.Backward(found.encodings) {
		switch {
		case slices.Contains(ciphers, name):
			data, err = k.decipher(found, data)
		case name == "gzip/plain" || name == "gzip":
			data, err = gunzip(data)
		default:
			err = malformed("their encoding '" + name + "' is not known to this package")
		}
		if err != nil {
			return nil, err
		}
	}
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return nil, malformed("what was encoded is no JSON array")
	}
	return data, nil
}

func (k keys) decipher(found encoded, data []byte) ([]byte, error) {
	key := k[found.keyID]
	if key == nil {
		return nil, &ojs.JobError{Code: "x_codec_unknown_key",
			Message: "the arguments are encrypted with the key '" + found.keyID + "', which is not known here"}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	box, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	if found.nonce != "" {
		nonce, err := base64.StdEncoding.DecodeString(found.nonce)
		if err != nil || len(nonce) != nonceBytes {
			return nil, malformed("their nonce is no base64 of 12 bytes")
		}
		if plain, err := box.Open(nil, nonce, data, nil); err == nil {
			return plain, nil
		}
	} else {
		// With the version in front, or without: the tag says which it was.
		for _, blob := range [][]byte{bytes.TrimPrefix(data, []byte{blobVersion}), data} {
			if len(blob) < nonceBytes+box.Overhead() {
				continue
			}
			if plain, err := box.Open(nil, blob[:nonceBytes], blob[nonceBytes:], nil); err == nil {
				return plain, nil
			}
		}
	}
	return nil, &ojs.JobError{Code: "x_codec_auth_failed", NonRetryable: true,
		Message: "the arguments do not belong to the key '" + found.keyID + "', or were changed"}
}

func gunzip(data []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, malformed("it is no valid gzip")
	}
	plain, err := io.ReadAll(io.LimitReader(reader, maxPlain+1))
	if err != nil || len(plain) > maxPlain {
		return nil, malformed("it is no valid gzip, or too large")
	}
	return plain, nil
}

func malformed(why string) error {
	return &ojs.JobError{Code: "x_codec_malformed", NonRetryable: true,
		Message: "the arguments are marked as encrypted, but " + why}
}
