package ojs

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// deepestValue is how deep a value may be nested: a value that contains itself ends here. The server takes 128 levels.
const deepestValue = 512

// unfit is a value that JSON has no form for, or only one that means something else.
type unfit struct {
	path    string // From the value that was given to this one: [0].when
	problem string // What it is, and what to pass in its place.
}

func unfitf(format string, args ...any) *unfit { return &unfit{problem: fmt.Sprintf(format, args...)} }

// within puts a step in front of the path.
func (u *unfit) within(step string) *unfit {
	if u != nil {
		u.path = step + u.path
	}
	return u
}

// fits looks for values that encoding/json refuses without saying where they are, or silently turns into something
// else: NaN, channels, functions, maps whose keys are not texts, texts that are not UTF-8, errors, structs without an
// exported field. name says what the value is: args, meta, result.
func fits(name string, value any) error {
	found := checkValue(value, 0)
	if found == nil {
		return nil
	}
	return &Error{Class: ErrValidation, Code: "serialization_error", Message: name + found.path + ": " + found.problem}
}

// checkValue knows the common kinds without reflection: this is the path of every job.
func checkValue(value any, depth int) *unfit {
	switch v := value.(type) {
	case nil, bool, int, int64, int32, uint, uint64, uint32, json.RawMessage:
		return nil
	case string:
		return checkText(v)
	case json.Number:
		return checkNumber(v)
	case float64:
		return checkFloat(v)
	case Args:
		return checkList(v, depth)
	case []any:
		return checkList(v, depth)
	case Obj:
		return checkMembers(v, depth)
	case map[string]any:
		return checkMembers(v, depth)
	}
	return checkReflected(reflect.ValueOf(value), depth)
}

func checkText(text string) *unfit {
	if utf8.ValidString(text) {
		return nil
	}
	return &unfit{problem: "a text that is not UTF-8 would lose bytes: pass []byte(…), which becomes base64"}
}

func checkFloat(number float64) *unfit {
	if !math.IsNaN(number) && !math.IsInf(number, 0) {
		return nil
	}
	return &unfit{problem: fmt.Sprintf("JSON has no form for %v: pass nil, or a text", number)}
}

func checkNumber(number json.Number) *unfit {
	text := string(number)
	if text == "" || text[0] == '-' || text[0] >= '0' && text[0] <= '9' {
		// The empty one is written as 0.
		if text == "" || json.Valid([]byte(text)) {
			return nil
		}
	}
	return &unfit{problem: fmt.Sprintf("the json.Number %q is not a number of JSON", text)}
}

func tooDeep(depth int) *unfit {
	if depth < deepestValue {
		return nil
	}
	return &unfit{problem: fmt.Sprintf("nested more than %d levels deep: does the value contain itself?", deepestValue)}
}

func checkList(list []any, depth int) *unfit {
	if found := tooDeep(depth); found != nil {
		return found
	}
	for i, item := range list {
		if found := checkValue(item, depth+1); found != nil {
			return found.within("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

func checkMembers(members map[string]any, depth int) *unfit {
	if found := tooDeep(depth); found != nil {
		return found
	}
	for name, member := range members {
		if found := checkText(name); found != nil {
			return found.within("." + strconv.Quote(name))
		}
		if found := checkValue(member, depth+1); found != nil {
			return found.within("." + name)
		}
	}
	return nil
}

// checkReflected is checkValue for whatever else there is.
func checkReflected(value reflect.Value, depth int) *unfit {
	if !value.IsValid() {
		return nil
	}
	if found := tooDeep(depth); found != nil {
		return found
	}
	kind := value.Kind()
	switch kind {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if value.IsNil() {
			return nil // null
		}
	}
	if knows, found := hasOwnForm(value); knows {
		return found
	}
	switch kind {
	case reflect.Pointer, reflect.Interface:
		return checkReflected(value.Elem(), depth+1)
	case reflect.String:
		return checkText(value.String())
	case reflect.Float32, reflect.Float64:
		return checkFloat(value.Float())
	case reflect.Slice, reflect.Array:
		return checkItems(value, depth)
	case reflect.Map:
		return checkMap(value, depth)
	case reflect.Struct:
		return checkStruct(value, depth)
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return unfitf("JSON has no form for a %s: pass the data that the handler needs", value.Type())
	}
	return nil
}

// hasOwnForm says whether the value writes its JSON, or a text, by itself.
func hasOwnForm(value reflect.Value) (bool, *unfit) {
	if !value.CanInterface() {
		return false, nil
	}
	form := value.Interface()
	if number, is := form.(json.Number); is {
		return true, checkNumber(number)
	}
	switch form.(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true, nil
	case error:
		return true, unfitf("JSON has no form for an error, here a %s: pass err.Error()", value.Type())
	}
	if value.CanAddr() {
		switch value.Addr().Interface().(type) {
		case json.Marshaler, encoding.TextMarshaler:
			return true, nil
		}
	}
	return false, nil
}

func checkItems(list reflect.Value, depth int) *unfit {
	switch list.Type().Elem().Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return nil
	}
	for i := range list.Len() {
		if found := checkReflected(list.Index(i), depth+1); found != nil {
			return found.within("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

func checkMap(members reflect.Value, depth int) *unfit {
	if key := members.Type().Key(); key.Kind() != reflect.String {
		return unfitf("a %s has keys that JSON would turn into texts: pass a map[string]%s", members.Type(), members.Type().Elem())
	}
	for members := members.MapRange(); members.Next(); {
		name := members.Key().String()
		if found := checkText(name); found != nil {
			return found.within("." + strconv.Quote(name))
		}
		if found := checkReflected(members.Value(), depth+1); found != nil {
			return found.within("." + name)
		}
	}
	return nil
}

func checkStruct(value reflect.Value, depth int) *unfit {
	kind, written := value.Type(), 0
	for i := range kind.NumField() {
		field := kind.Field(i)
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || !field.IsExported() && !field.Anonymous {
			continue
		}
		written++
		member := value.Field(i)
		if kind := field.Type.Kind(); strings.Contains(options, "omit") && member.IsZero() && kind != reflect.Func && kind != reflect.Chan {
			continue // Left out.
		}
		found := checkReflected(member, depth+1)
		switch {
		case found == nil:
		case field.Anonymous && name == "":
			return found // Its members are written as those of the struct around it.
		case name == "":
			return found.within("." + field.Name)
		default:
			return found.within("." + name)
		}
	}
	if written == 0 && kind.NumField() > 0 {
		return unfitf("a %s has no exported field, and would become {}: export its fields (Capital letters), or pass a map", kind)
	}
	return nil
}
