package ojs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// encode writes JSON without Go's escapes for HTML.
func encode(v any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, &Error{Class: ErrValidation, Code: "serialization_error", Message: "JSON has no form for it: " + err.Error(), cause: err}
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}

// decode reads JSON; numbers in values of type any become json.Number, to the last digit.
func decode(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(into)
	if err == nil && decoder.More() {
		err = errors.New("something follows the JSON")
	}
	if err != nil {
		wrong := unexpected("the answer cannot be read: %v", err)
		wrong.cause = err
		return wrong
	}
	return nil
}

// Args are the arguments of a job: a JSON array. In jobs that come from a server, numbers are json.Number.
type Args []any

// Obj is a JSON object, for jobs with a single one as their argument.
type Obj map[string]any

// MarshalJSON writes nil as an empty array.
func (a Args) MarshalJSON() ([]byte, error) {
	if a == nil {
		return []byte("[]"), nil
	}
	return encode([]any(a))
}

// UnmarshalJSON keeps numbers as they are.
func (a *Args) UnmarshalJSON(data []byte) error {
	var values []any
	if err := decode(data, &values); err != nil {
		return err
	}
	*a = values
	return nil
}

// Decode reads arguments from the left into variables:
//
//	var to string
//	var count int64
//	err := ctx.Job.Args.Decode(&to, &count)
func (a Args) Decode(into ...any) error {
	if len(into) > len(a) {
		return invalid("the job has %d arguments, %d are wanted", len(a), len(into))
	}
	for i, target := range into {
		if err := convert(a[i], target); err != nil {
			return invalid("argument %d: %v", i, err)
		}
	}
	return nil
}

func convert(value, into any) error {
	data, err := encode(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// argsOf is the array that the wire wants: a single value becomes an array of one.
func argsOf(args any) any {
	switch given := args.(type) {
	case nil:
		return Args{}
	case Args:
		return given
	case []any:
		return Args(given)
	case json.RawMessage:
		if bytes.HasPrefix(bytes.TrimSpace(given), []byte("[")) {
			return given
		}
		return []any{given}
	case []byte:
		return []any{given}
	}
	if value := reflect.ValueOf(args); value.Kind() == reflect.Slice {
		if value.Len() == 0 {
			return Args{}
		}
		return args
	}
	return []any{args}
}

// duration writes a length of time as ISO 8601.
type duration time.Duration

func (d duration) MarshalJSON() ([]byte, error) {
	length := time.Duration(d)
	if length < 0 {
		return nil, fmt.Errorf("a length of time below zero: %s", length)
	}
	const day = 24 * time.Hour
	var out strings.Builder
	out.WriteString("P")
	if days := length / day; days > 0 {
		fmt.Fprintf(&out, "%dD", days)
	}
	length %= day
	if length > 0 || out.Len() == 1 {
		out.WriteString("T")
		if hours := length / time.Hour; hours > 0 {
			fmt.Fprintf(&out, "%dH", hours)
		}
		if minutes := length % time.Hour / time.Minute; minutes > 0 {
			fmt.Fprintf(&out, "%dM", minutes)
		}
		if rest := length % time.Minute; rest > 0 || length == 0 {
			seconds := fmt.Sprintf("%d.%09d", rest/time.Second, rest%time.Second)
			out.WriteString(strings.TrimRight(strings.TrimRight(seconds, "0"), ".") + "S")
		}
	}
	return json.Marshal(out.String())
}

// wireMillis of a length; what is shorter than one is one, for 0 would mean none.
func wireMillis(d time.Duration) int64 {
	if d > 0 && d < time.Millisecond {
		return 1
	}
	return d.Milliseconds()
}

func (d duration) millis() string { return strconv.FormatInt(time.Duration(d).Milliseconds(), 10) }
