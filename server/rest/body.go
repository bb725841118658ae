package rest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// object reads the body, of at most so many bytes, as a JSON object. No body at all is
// an empty object.
func (x *exchange) object(most int64) (*tool.Object, error) {
	if x.r.ContentLength > most {
		return nil, tooLarge(most)
	}
	b, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, most))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(b) == 0 {
		return tool.Members(nil), nil
	}
	if err := wantContent(x.r, mediaJSON); err != nil {
		return nil, err
	}
	if x.g == nil {
		return tool.Members(b), nil
	}
	var o *tool.Object
	err = x.g.Turn(x.ctx(), len(b), func() { o = tool.Members(b) })
	return o, err
}

// body reads the members of a request's body into a struct, which is therefore all that
// documents need to know of it. Faults are noted in the object, which the caller closes.
func (x *exchange) body(into any) (*tool.Object, error) { return x.bodyOf(x.opts.MaxBody, into) }

// textBody is body for a request that carries a text in GQ or a schema.
func (x *exchange) textBody(into any) (*tool.Object, error) { return x.bodyOf(x.opts.MaxText, into) }

func (x *exchange) bodyOf(most int64, into any) (*tool.Object, error) {
	o, err := x.object(most)
	if err != nil {
		return nil, err
	}
	readMembers(o, into)
	return o, nil
}

// readMembers reads the members of an object into the struct that into points to.
func readMembers(o *tool.Object, into any) { members(o, reflect.ValueOf(into).Elem()) }

// members reads the fields of a struct: those that are no pointers are required. A field
// of the type map is one that the caller reads as it is written.
func members(o *tool.Object, into reflect.Value) {
	for field, v := range into.Fields() {
		if field.Anonymous {
			members(o, v)
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		r := rulesOf(field.Tag.Get("jsonschema"))
		switch p := v.Addr().Interface().(type) {
		case *string:
			*p = o.String(name)
		case **string:
			if r.enum != nil {
				*p = o.OptEnum(name, r.enum...)
			} else {
				*p = o.OptString(name)
			}
		case **bool:
			*p = o.OptBool(name)
		case **int32:
			if *p = o.OptI32(name); *p != nil && **p < r.least {
				o.Fail(name, fmt.Sprintf("found less than %d", r.least), "")
			}
		case **value.DateTimeValue:
			*p = o.OptDateTime(name)
		case *[]string:
			*p = tool.OptListOf[string](o, name, value.String)
		case *map[string]any:
		default:
			panic("rest: body member " + name + " is of type " + field.Type.String())
		}
	}
}

// rules are what the schema of a member says beside its type.
type rules struct {
	enum  []string
	least int32
}

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

// wantContent holds a request to the media type of its body, which comes as it is.
func wantContent(r *http.Request, want string) error {
	if coding := strings.Join(r.Header.Values("Content-Encoding"), ", "); coding != "" && coding != "identity" {
		return &httpError{envelope.New(http.StatusUnsupportedMediaType, service.BadRequest,
			fmt.Sprintf("found content encoding %q, wanted none; send the body uncompressed", short(coding)))}
	}
	// Several lines are no media type, also when each of them would be one.
	got := strings.Join(r.Header.Values("Content-Type"), ", ")
	media, _, err := mime.ParseMediaType(got)
	if err == nil && media == want {
		return nil
	}
	return &httpError{envelope.New(http.StatusUnsupportedMediaType, service.BadRequest,
		fmt.Sprintf("found content type %q, wanted %s", short(got), want))}
}

// unreadable is the fault of a body that could not be read to its end.
func unreadable(err error) error {
	var tooBig *http.MaxBytesError
	if errors.As(err, &tooBig) {
		return tooLarge(tooBig.Limit)
	}
	return &httpError{envelope.New(http.StatusBadRequest, service.BadRequest, "the request body could not be read")}
}

func tooLarge(limit int64) error {
	return &httpError{envelope.New(http.StatusRequestEntityTooLarge, service.BadRequest,
		fmt.Sprintf("the request body is larger than the %d bytes that it may have", limit))}
}

// limited reads a body up to its limit and remembers that the limit was passed, also
// when whoever reads it reports that in words of its own.
type limited struct {
	r   io.Reader
	err error // the first that is not io.EOF
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF && l.err == nil {
		l.err = err
	}
	return n, err
}
