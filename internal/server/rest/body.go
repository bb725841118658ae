package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
)

// object reads the body as a JSON object. The argument `most` is the maximum size of the body in
// bytes. An empty body counts as an empty object.
func (x *exchange) object(most int64) (*arguments.Object, error) {
	if x.r.ContentLength > most {
		return nil, tooLarge(most)
	}
	b, err := readAll(http.MaxBytesReader(x.w, x.r.Body, most), x.r.ContentLength)
	if err != nil {
		return nil, unreadable(err)
	}
	if len(b) == 0 {
		return arguments.Members(nil), nil
	}
	if err := wantContent(x.r, mediaJSON); err != nil {
		return nil, err
	}
	if x.g == nil {
		return arguments.Members(b), nil
	}
	var o *arguments.Object
	err = x.g.Turn(x.ctx(), len(b), func() { o = arguments.Members(b) })
	return o, err
}

// readAll reads a body of the declared length, or of an unknown length if that is negative.
func readAll(r io.Reader, declared int64) ([]byte, error) {
	b := make([]byte, 0, min(max(declared, 0), firstRead)+1) // one more than declared, so that the last read finds the end
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) == cap(b):
			b = slices.Grow(b, 512)
		}
	}
}

// firstRead is the largest part of a declared length, in bytes, for which the server reserves memory before the
// body arrives.
const firstRead = 64 << 10

// body reads the members of the request body into a struct. The OpenAPI document describes the body
// from the same struct. The method records faults in the object; the caller must call Done.
func (x *exchange) body(into any) (*arguments.Object, error) { return x.bodyOf(x.opts.MaxBody, into) }

// textBody is body with the size limit for a request that contains GQ text or a schema.
func (x *exchange) textBody(into any) (*arguments.Object, error) {
	return x.bodyOf(x.opts.MaxText, into)
}

// bodyOf reads a body into the struct at the pointer `into`. The argument `most` is the maximum
// size of the body in bytes.
func (x *exchange) bodyOf(most int64, into any) (*arguments.Object, error) {
	o, err := x.object(most)
	if err != nil {
		return nil, err
	}
	readMembers(o, into)
	return o, nil
}

// readMembers reads the members of an object into the struct at the pointer `into`.
func readMembers(o *arguments.Object, into any) { members(o, reflect.ValueOf(into).Elem()) }

// members reads the fields of a struct. A field without omitempty is required. The field of an
// absent member stays zero; Object.Has tells an absent member from one with the zero value. members
// skips fields of type any; the caller reads those unparsed.
func members(o *arguments.Object, into reflect.Value) {
	for i, m := range membersOf(into.Type()) {
		name, r, v := m.name, m.rules, into.Field(i)
		switch p := v.Addr().Interface().(type) {
		case *string:
			switch {
			case m.required:
				*p = o.String(name)
			case r.enum != nil:
				*p = orZero(o.OptEnum(name, r.enum...))
			default:
				*p = orZero(o.OptString(name))
			}
		case *bool:
			*p = orZero(o.OptBool(name))
		case **bool:
			*p = o.OptBool(name)
		case *int32:
			if n := o.OptI32(name); n != nil {
				if *p = *n; *p < r.least {
					o.Fail(name, fmt.Sprintf("the number must be at least %d", r.least), "")
				}
			}
		case **time.Time:
			*p = o.OptTime(name)
		case *[]string:
			*p = o.OptStrings(name)
		case **string:
			*p = o.OptString(name)
		case *json.RawMessage:
			*p = o.Raw(name)
		case *any:
		default:
			nested(o, name, v)
		}
	}
}

// nested reads the member `name`. If the field `into` is a slice of structs, the member is an array
// of objects. If the field is a pointer to a struct, the member is an object that may be absent.
func nested(o *arguments.Object, name string, into reflect.Value) {
	raw := o.Raw(name)
	if raw == nil {
		return
	}
	switch t := into.Type(); {
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		into.Set(reflect.New(t.Elem()))
		inner := arguments.Members(raw)
		members(inner, into.Elem())
		o.Merge(name, inner.Done())
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		items, ok := o.Items(name)
		if !ok {
			o.Fail(name, "the value is not an array, expected an array of objects", "")
			return
		}
		into.Set(reflect.MakeSlice(t, len(items), len(items)))
		for i, item := range items {
			inner := arguments.Members(item)
			members(inner, into.Index(i))
			o.Merge(fmt.Sprintf("%s[%d]", name, i), inner.Done())
		}
	default:
		panic("rest: body member " + name + " is of type " + t.String())
	}
}

// orZero returns the value that p points to, or the zero value.
func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// bodyMember is what the tags of a field say about the member of a JSON object.
type bodyMember struct {
	name     string
	required bool
	rules    rules
}

// structMembers holds the members of each struct type that was read before, as []bodyMember.
var structMembers sync.Map

// membersOf returns the members of a struct type, in the order of its fields.
func membersOf(t reflect.Type) []bodyMember {
	if known, ok := structMembers.Load(t); ok {
		return known.([]bodyMember)
	}
	list := make([]bodyMember, 0, t.NumField())
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		list = append(list, bodyMember{name: name, required: options != "omitempty", rules: rulesOf(field.Tag.Get("jsonschema"))})
	}
	structMembers.Store(t, list)
	return list
}

// rules are the constraints that the schema of a member adds to its type.
type rules struct {
	enum  []string // the allowed texts; nil allows any
	least int32    // the minimum of a number
}

// rulesOf returns the rules in a jsonschema tag.
func rulesOf(tag string) rules {
	r := rules{least: math.MinInt32}
	for part := range strings.SplitSeq(tag, ",") {
		switch name, v, _ := strings.Cut(part, "="); name {
		case "enum":
			r.enum = append(r.enum, v)
		case "minimum":
			n, err := strconv.ParseInt(v, 10, 32)
			if err != nil {
				panic("rest: jsonschema tag " + tag)
			}
			r.least = int32(n)
		}
	}
	return r
}

// wantContent checks the media type of the body, and that the body is not compressed.
func wantContent(r *http.Request, want string) error {
	if coding := strings.Join(r.Header["Content-Encoding"], ", "); coding != "" && coding != "identity" {
		return &httpError{envelope.New(wireerror.WrongMedia, client.CodeBadRequest,
			fmt.Sprintf("found content encoding %q, expected none; send the body uncompressed", short(coding)))}
	}
	if v := r.Header["Content-Type"]; len(v) == 1 && v[0] == want {
		return nil
	}
	// Joined, several header lines never parse as a media type, even if each line alone would.
	got := strings.Join(r.Header.Values("Content-Type"), ", ")
	media, _, err := mime.ParseMediaType(got)
	if err == nil && media == want {
		return nil
	}
	return &httpError{envelope.New(wireerror.WrongMedia, client.CodeBadRequest,
		fmt.Sprintf("found content type %q, expected %s", short(got), want))}
}

// unreadable returns the error for a body that could not be read to its end.
func unreadable(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return tooLarge(tooBig.Limit)
	}
	return &httpError{envelope.New(wireerror.OfRequest, client.CodeBadRequest, "the request body could not be read")}
}

// tooLarge returns the error for a body of more than `limit` bytes.
func tooLarge(limit int64) error {
	return &httpError{envelope.New(wireerror.TooLarge, client.CodeBadRequest,
		fmt.Sprintf("the request body is larger than the limit of %d bytes", limit))}
}

// errorKeeper remembers the error of its reader. The caller can then tell that a body was too large
// even if the reading code replaced that error with its own.
type errorKeeper struct {
	r   io.Reader
	err error // the first error other than io.EOF
}

func (l *errorKeeper) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF && l.err == nil {
		l.err = err
	}
	return n, err
}
