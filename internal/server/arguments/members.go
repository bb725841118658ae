package arguments

import (
	"strconv"
	"time"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// String returns a required String, or "" if it is absent.
func (o *Object) String(name string) string { return text(o.Value(name, value.Of(value.String))) }

// OptString returns an optional String, or nil if it is absent.
func (o *Object) OptString(name string) *string {
	return optional(o, name, value.Of(value.String), value.Value.Str)
}

// Enum returns a required String, or "" if it is absent. The String must be one of the values in
// `allowed`.
func (o *Object) Enum(name string, allowed ...string) string {
	return text(o.Value(name, value.Type{Kind: value.String, Enum: allowed}))
}

// OptEnum returns an optional String, or nil if it is absent. The String must be one of the values
// in `allowed`. An empty text counts as absent.
func (o *Object) OptEnum(name string, allowed ...string) *string {
	if !o.Gives(name) {
		o.find(name)
		return nil
	}
	return optional(o, name, value.Type{Kind: value.String, Enum: allowed}, value.Value.Str)
}

// OptBool returns an optional Bool, or nil if it is absent.
func (o *Object) OptBool(name string) *bool {
	return optional(o, name, value.Of(value.Bool), value.Value.Bool)
}

// OptI32 returns an optional I32, or nil if it is absent.
func (o *Object) OptI32(name string) *int32 {
	return optional(o, name, value.Of(value.I32), func(v value.Value) int32 { return int32(v.Int()) })
}

// OptTime returns an optional instant of any precision, or nil if it is absent or wrong.
func (o *Object) OptTime(name string) *time.Time {
	s := o.OptString(name)
	if s == nil {
		return nil
	}
	t, err := value.ParseInstant(*s)
	if err != nil {
		o.Fail(name, "found the string "+strconv.Quote(*s)+", expected "+value.DateTime.Wanted(), "")
		return nil
	}
	return &t
}

// OptStrings returns an optional list of Strings, or nil if it is absent.
func (o *Object) OptStrings(name string) []string {
	v := o.Value(name, value.Type{Kind: value.String, List: true, Nullable: true})
	if v.IsNull() {
		return nil
	}
	all := make([]string, len(v.Elems()))
	for i, e := range v.Elems() {
		all[i] = e.Str()
	}
	return all
}

// text returns a String, or "" for null.
func text(v value.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Str()
}

// optional reads a member that may be missing or null. The result is then nil.
func optional[T any](o *Object, name string, t value.Type, as func(value.Value) T) *T {
	v := o.Value(name, t.Optional())
	if v.IsNull() {
		return nil
	}
	x := as(v)
	return &x
}
